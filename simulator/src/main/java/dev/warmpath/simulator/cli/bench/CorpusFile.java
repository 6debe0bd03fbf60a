package dev.warmpath.simulator.cli.bench;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.simulator.bench.corpus.CorpusShape;
import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.wpix.WpixWriter;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A corpus as a file for other programs; a temporary one, deleted in the end, if it was made here.
 *
 * <p>Immutable.
 *
 * @param path where it is
 * @param temporary whether to delete it
 */
record CorpusFile(Path path, boolean temporary) implements Closeable {

  /** {@code given}, or a temporary file if that is null. */
  static CorpusFile of(CorpusSource source, @Nullable Path given) throws IOException {
    if (given != null) {
      return new CorpusFile(given, false);
    }
    requireSimple(source);
    CorpusFile file = new CorpusFile(Files.createTempFile("warmpath", ".wpix"), true);
    try (WpixWriter writer = WpixWriter.create(file.path)) {
      source.feed(writer);
    }
    return file;
  }

  /** Refuses what WPIX cannot express. */
  static void requireSimple(CorpusSource source) {
    if (!source.shape().equals(CorpusShape.SIMPLE)) {
      throw CommandException.usage("WPIX has no groups: " + source.name() + " cannot be written");
    }
  }

  @Override
  public void close() throws IOException {
    if (temporary) {
      Files.delete(path);
    }
  }
}
