package dev.warmpath.router.discovery;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.read.ConfigException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the replicas that a file lists. The path is followed anew at each look, so that a file or a
 * symbolic link that takes another's place is seen.
 *
 * <p>Confined to the thread of its source.
 */
public final class FileLook implements Look {

  private static final int MAX_BYTES = 16 << 20;

  private final Path file;
  private byte @Nullable [] content;
  private Found found = new Found(List.of(), List.of(), 0);

  public FileLook(Path file) {
    this.file = file;
  }

  @Override
  public Found look() throws IOException {
    byte[] now = read();
    if (!Arrays.equals(now, content)) {
      found = parsed(now);
      content = now;
    }
    return found;
  }

  private byte[] read() throws IOException {
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

  private Found parsed(byte[] bytes) throws IOException {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      return new Found(ConfigTree.replicas(text, file.toString()), List.of(), 0);
    } catch (CharacterCodingException e) {
      throw new IOException(file + ": not UTF-8 text", e);
    } catch (ConfigException e) {
      throw new IOException(String.join("; ", e.problems()), e);
    }
  }
}
