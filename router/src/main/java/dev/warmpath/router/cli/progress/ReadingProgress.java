package dev.warmpath.router.cli.progress;

import dev.warmpath.eventingest.capture.CaptureOpener;
import dev.warmpath.eventingest.capture.CaptureReader;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Opens capture files and shows how many of their bytes have been read.
 *
 * <p>Confined to the thread that reads.
 */
public final class ReadingProgress implements CaptureOpener, AutoCloseable {

  private final @Nullable ProgressBar bar;
  private long bytes;

  ReadingProgress(@Nullable ProgressBar bar) {
    this.bar = bar;
  }

  @Override
  public CaptureReader open(Path file) throws IOException {
    return bar == null
        ? CaptureReader.open(file)
        : CaptureReader.of(file.toString(), new Counted(Files.newInputStream(file), bar));
  }

  /** Ends the line, so that something else can be said. */
  @Override
  public void close() {
    if (bar != null) {
      bar.end();
    }
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
