package dev.warmpath.router.config;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The contents of files that belong together, looked at again and again. Paths are followed at each
 * look, so that files and links that take another's place are seen.
 *
 * <p>Contents are taken over by the first look, and later when two looks in a row have found the
 * same: a file that is being written in place differs from one look to the next. A file without
 * content is not readable.
 *
 * <p>Confined to one thread at a time.
 */
public final class FileContents {

  /** Takes over the contents, all or nothing. */
  @FunctionalInterface
  public interface Loader {

    /**
     * Takes them over.
     *
     * @param contents one for each file, in their order
     * @throws IOException if they cannot be used; its message says why and holds no secrets
     */
    void load(List<byte[]> contents) throws IOException;
  }

  /** What a look found. */
  public enum Look {
    /** What was taken over last. */
    SAME,
    /** Something else, which the next look has to confirm. */
    UNCONFIRMED,
    /** Something else, taken over now. */
    TAKEN
  }

  private final BoundedRead reading;
  private boolean looked;
  private boolean foundRefused;
  private @Nullable List<byte[]> taken;
  private @Nullable List<byte[]> unconfirmed;
  private @Nullable List<byte[]> refused;
  private String refusal = "";

  /**
   * Nothing is read yet.
   *
   * @param files at least one
   */
  public FileContents(List<Path> files) {
    this(new BoundedRead(files, BoundedRead::regular, BoundedRead.LIMIT_MILLIS));
  }

  FileContents(BoundedRead reading) {
    this.reading = reading;
  }

  /** Begins to read for the next look, which can be of another thread. */
  void begin() throws IOException {
    reading.begin();
  }

  /**
   * Looks at the files, and gives {@code loader} what is new. What it has refused is refused until
   * the files hold something else.
   *
   * @throws IOException if the files cannot be read, or what they hold was refused
   */
  public Look look(Loader loader) throws IOException {
    List<byte[]> before = unconfirmed;
    boolean first = !looked;
    unconfirmed = null;
    looked = true;
    foundRefused = false;
    List<byte[]> now = reading.await();
    if (isSame(taken, now)) {
      refused = null;
      return Look.SAME;
    }
    if (isSame(refused, now)) {
      foundRefused = true;
      throw new IOException(refusal);
    }
    if (!first && !isSame(before, now)) {
      unconfirmed = now;
      return Look.UNCONFIRMED;
    }
    load(now, loader);
    return Look.TAKEN;
  }

  private void load(List<byte[]> contents, Loader loader) throws IOException {
    try {
      loader.load(contents);
    } catch (IOException | RuntimeException e) {
      refused = contents;
      foundRefused = true;
      refusal = e instanceof IOException ? String.valueOf(e.getMessage()) : e.toString();
      throw new IOException(refusal, e);
    }
    taken = contents;
    refused = null;
  }

  /** Whether the last look found contents that were refused. */
  boolean isRefused() {
    return foundRefused;
  }

  private static boolean isSame(@Nullable List<byte[]> before, List<byte[]> now) {
    boolean same = before != null && before.size() == now.size();
    for (int i = 0; before != null && same && i < now.size(); i++) {
      same = Arrays.equals(before.get(i), now.get(i));
    }
    return same;
  }
}
