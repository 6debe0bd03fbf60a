package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What the files of a tokenizer look like from outside: their names, sizes and times. While it is
 * the same, a file that could not be used cannot be used.
 *
 * <p>Immutable.
 */
final class FilesStamp {

  /** Templates may be in a directory of their own. */
  private static final int DEPTH = 2;

  private FilesStamp() {}

  /** The stamp of these files; null if they come with the program or have to be downloaded. */
  static @Nullable String of(ModelSettings settings) {
    try {
      Path place = settings.files();
      String template = settings.rendering().chatTemplate();
      return place == null ? null : tree(place) + (template == null ? "" : tree(Path.of(template)));
    } catch (IOException | UncheckedIOException | TokenizerLoadException e) {
      return e.toString();
    }
  }

  private static String tree(Path place) throws IOException {
    if (!Files.exists(place)) {
      return place + " absent";
    }
    StringBuilder stamp = new StringBuilder();
    try (Stream<Path> files = Files.walk(place, DEPTH, FileVisitOption.FOLLOW_LINKS)) {
      for (Path file : (Iterable<Path>) files.sorted()::iterator) {
        if (file.equals(place) || ModelFiles.reads(name(place, file))) {
          stamp.append(file(file));
        }
      }
    }
    return stamp.toString();
  }

  private static String name(Path directory, Path file) {
    return directory.relativize(file).toString().replace('\\', '/');
  }

  /** A directory's own time changes with files that nobody reads. */
  private static String file(Path file) throws IOException {
    BasicFileAttributes attributes = Files.readAttributes(file, BasicFileAttributes.class);
    return attributes.isDirectory()
        ? ""
        : "%s %d %s %s %b%n"
            .formatted(
                file,
                attributes.size(),
                attributes.lastModifiedTime(),
                attributes.fileKey(),
                Files.isReadable(file));
  }
}
