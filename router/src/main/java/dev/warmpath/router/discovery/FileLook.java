package dev.warmpath.router.discovery;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.read.ConfigException;
import dev.warmpath.router.watch.FileContents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Finds the replicas that a file lists.
 *
 * <p>Confined to the thread of its source.
 */
public final class FileLook implements Look {

  private final Path file;
  private final FileContents contents;
  private Found found = new Found(List.of(), List.of(), 0);

  public FileLook(Path file) {
    this.file = file;
    this.contents = new FileContents(List.of(file));
  }

  @Override
  public Found look() throws IOException {
    Optional<List<byte[]>> changed = contents.changed();
    try {
      found = changed.isPresent() ? parsed(changed.get().get(0)) : found;
      return found;
    } catch (IOException e) {
      contents.forget(); // each look at a broken file fails
      throw e;
    }
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
