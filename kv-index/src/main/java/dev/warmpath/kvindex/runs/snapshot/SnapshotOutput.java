package dev.warmpath.kvindex.runs.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Writes fields in chunks, each with the checksum of everything up to its end.
 *
 * <p>Failures of the stream come as {@link UncheckedIOException}. Single writer.
 */
public final class SnapshotOutput {

  /*
   *   magic (8 bytes) | version (4) | chunk …
   *   chunk   payload's length (4), 0 for the last | payload | CRC-32C (4)
   *
   * All numbers are little-endian. No field lies in two chunks. The checksum goes on from chunk to
   * chunk, so that one that is missing or at the wrong place is noticed; it covers all bytes before
   * it but earlier checksums, which would reset it to a constant.
   */

  static final byte[] MAGIC = "WPKVSNAP".getBytes(StandardCharsets.US_ASCII);
  static final int VERSION = 1;
  static final int MAX_CHUNK_BYTES = 1 << 18;

  private final OutputStream out;
  private final CRC32C checksum = new CRC32C();
  private final ByteBuffer chunk =
      ByteBuffer.allocate(Integer.BYTES + MAX_CHUNK_BYTES + Integer.BYTES)
          .order(ByteOrder.LITTLE_ENDIAN);

  /** Begins a snapshot. */
  public SnapshotOutput(OutputStream out) {
    this.out = out;
    chunk.put(MAGIC).putInt(VERSION);
    checksum.update(chunk.array(), 0, chunk.position());
    send();
    beginChunk();
  }

  public void int8(int value) {
    need(1).put((byte) value);
  }

  public void int32(int value) {
    need(Integer.BYTES).putInt(value);
  }

  public void int64(long value) {
    need(Long.BYTES).putLong(value);
  }

  /** Writes {@code values[from … from + count − 1]}. */
  public void longs(long[] values, int from, int count) {
    for (int i = from; i < from + count; i++) {
      need(Long.BYTES).putLong(values[i]);
    }
  }

  /** Ends the snapshot; flushes the stream and leaves it open. */
  public void end() {
    if (chunk.position() > Integer.BYTES) {
      endChunk();
    }
    endChunk();
    try {
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ByteBuffer need(int bytes) {
    if (chunk.position() + bytes > Integer.BYTES + MAX_CHUNK_BYTES) {
      endChunk();
    }
    return chunk;
  }

  private void beginChunk() {
    chunk.position(Integer.BYTES);
  }

  private void endChunk() {
    chunk.putInt(0, chunk.position() - Integer.BYTES);
    checksum.update(chunk.array(), 0, chunk.position());
    chunk.putInt((int) checksum.getValue());
    send();
    beginChunk();
  }

  private void send() {
    try {
      out.write(chunk.array(), 0, chunk.position());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
