package dev.warmpath.lab.chaos;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/**
 * Reads byte by byte, with pauses if the reader is to be slow, and notes when the first one came.
 *
 * <p>Confined to one thread.
 */
final class PacedStream extends FilterInputStream {

  private static final int BYTES_TO_A_PAUSE = 1_024;
  private static final long PAUSE_MILLIS = 120;

  private final boolean slow;
  private long bytes;
  private long firstNanos;

  PacedStream(InputStream in, boolean slow) {
    super(in);
    this.slow = slow;
  }

  @Override
  public int read() throws IOException {
    int next = super.read();
    if (next >= 0 && bytes++ == 0) {
      firstNanos = System.nanoTime();
    }
    if (slow && bytes % BYTES_TO_A_PAUSE == 0) {
      pause();
    }
    return next;
  }

  @Override
  public int read(byte[] to, int offset, int length) throws IOException {
    int next = length == 0 ? 0 : read();
    if (next >= 0 && length > 0) {
      to[offset] = (byte) next;
    }
    return next < 0 ? -1 : Math.min(length, 1);
  }

  /** From a moment to the first byte; negative if none came. */
  double firstMillis(long sinceNanos) {
    return bytes == 0 ? -1 : (firstNanos - sinceNanos) / 1e6;
  }

  private static void pause() throws IOException {
    try {
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException();
    }
  }
}
