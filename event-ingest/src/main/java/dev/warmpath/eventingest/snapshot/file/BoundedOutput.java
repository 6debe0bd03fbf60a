package dev.warmpath.eventingest.snapshot.file;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Passes on so many bytes and no more.
 *
 * <p>Confined to its caller.
 */
final class BoundedOutput extends OutputStream {

  private final OutputStream out;
  private final long maxBytes;
  private long bytes;

  BoundedOutput(OutputStream out, long maxBytes) {
    this.out = out;
    this.maxBytes = maxBytes;
  }

  @Override
  public void write(int value) throws IOException {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] from, int offset, int count) throws IOException {
    bytes += count;
    if (bytes > maxBytes) {
      throw new IOException("more than " + maxBytes + " bytes");
    }
    out.write(from, offset, count);
  }
}
