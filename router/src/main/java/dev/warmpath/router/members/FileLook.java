package dev.warmpath.router.members;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.config.FileContents;
import dev.warmpath.router.config.YamlReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Finds the replicas that a file lists.
 *
 * <p>Confined to the thread of its source.
 */
final class FileLook implements Look {

  private final Path file;
  private final FileContents contents;
  private @Nullable Found found;

  FileLook(Path file) {
    this.file = file;
    this.contents = new FileContents(List.of(file));
  }

  @Override
  public Found look() throws IOException {
    var unused = contents.look(now -> found = parsed(now.get(0)));
    if (found == null) {
      throw new IOException(file + ": is being written");
    }
    return found;
  }

  private Found parsed(byte[] bytes) throws IOException {
    try {
      String name = file.toString();
      Found found = new Found();
      ConfigTree.replicas(YamlReader.text(bytes, name), name).forEach(found::add);
      return found;
    } catch (ConfigException e) {
      throw new IOException(String.join("; ", e.problems()), e);
    }
  }
}
