package dev.warmpath.router.watch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The contents of files that belong together, compared with those of the last look. Paths are
 * followed at each look, so that files and links that take another's place are seen.
 *
 * <p>Confined to one thread at a time.
 */
public final class FileContents {

  private static final int MAX_BYTES = 16 << 20;

  private final List<Path> files;
  private List<byte[]> seen = List.of();

  /**
   * Nothing is read yet.
   *
   * @param files at least one
   */
  public FileContents(List<Path> files) {
    this.files = List.copyOf(files);
  }

  /**
   * Looks at the files.
   *
   * @return one content for each file, in their order; empty if all are as they were
   * @throws IOException if one cannot be read; its message names the file
   */
  public Optional<List<byte[]>> changed() throws IOException {
    List<byte[]> before = seen;
    forget();
    List<byte[]> now = new ArrayList<>();
    for (Path file : files) {
      now.add(read(file));
    }
    seen = now;
    return isSame(before, now) ? Optional.empty() : Optional.of(now);
  }

  /** Whatever the files hold at the next look is new. */
  public void forget() {
    seen = List.of();
  }

  private static boolean isSame(List<byte[]> before, List<byte[]> now) {
    boolean same = before.size() == now.size();
    for (int i = 0; same && i < now.size(); i++) {
      same = Arrays.equals(before.get(i), now.get(i));
    }
    return same;
  }

  private static byte[] read(Path file) throws IOException {
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MAX_BYTES + 1);
    } catch (NoSuchFileException e) {
      throw new IOException(file + ": no such file", e);
    } catch (IOException e) {
      throw new IOException(file + ": cannot be read: " + e.getMessage(), e);
    }
    if (bytes.length > MAX_BYTES) {
      throw new IOException(file + ": larger than " + (MAX_BYTES >> 20) + " MiB");
    }
    return bytes;
  }
}
