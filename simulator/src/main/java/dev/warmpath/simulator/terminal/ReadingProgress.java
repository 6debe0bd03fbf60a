package dev.warmpath.simulator.terminal;

import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Opens capture files, shows how many of their bytes have been read, and tells at the end which of
 * them were cut.
 *
 * <p>Confined to the thread that reads.
 */
public final class ReadingProgress implements CaptureOpener, AutoCloseable {

  private final @Nullable ProgressBar bar;
  private final PrintWriter err;
  private final Map<Path, CaptureReader> opened = new LinkedHashMap<>();
  private long bytes;

  ReadingProgress(@Nullable ProgressBar bar, PrintWriter err) {
    this.bar = bar;
    this.err = err;
  }

  @Override
  public CaptureReader open(Path file) throws IOException {
    CaptureReader reader =
        bar == null || Files.isDirectory(file)
            ? CaptureReader.open(file)
            : CaptureReader.of(file.toString(), new Counted(Files.newInputStream(file), bar));
    opened.put(file, reader);
    return reader;
  }

  /** Ends the line, so that something else can be said, and says which files were cut. */
  @Override
  public void close() {
    if (bar != null) {
      bar.end();
    }
    opened.forEach((file, reader) -> {
      if (reader.truncated()) {
        err.println(file + ": ends inside a record; the rest is missing");
      }
    });
    opened.clear();
  }

  private final class Counted extends FilterInputStream {

    private final ProgressBar shown;

    Counted(InputStream in, ProgressBar shown) {
      super(in);
      this.shown = shown;
    }

    @Override
    public int read() throws IOException {
      int value = super.read();
      count(value < 0 ? 0 : 1);
      return value;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      int read = super.read(into, offset, length);
      count(Math.max(0, read));
      return read;
    }

    private void count(int read) {
      bytes += read;
      shown.show(bytes);
    }
  }
}
