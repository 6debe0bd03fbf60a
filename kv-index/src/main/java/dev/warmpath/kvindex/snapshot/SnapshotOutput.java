package dev.warmpath.kvindex.snapshot;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * Writes a snapshot as a stream of sections.
 *
 * <p>Failures of the stream, and too many bytes, come as {@link UncheckedIOException}. Single
 * writer.
 */
public final class SnapshotOutput {

  /*
   *   magic (8 bytes) | version (4) | part …
   *   part   section (1), bit 7: goes on in the next | fields' length (4) | fields | CRC-32C (4)
   *
   * All numbers are little-endian. A number lies in one part; a text may lie in several. The checksum
   * goes on from part to part, so that one that is missing or at the wrong place is noticed; it covers
   * all bytes before it but earlier checksums, which would reset it to a constant.
   *
   * Parts are gathered in one buffer. A section that is larger goes on in the next: nobody needs to
   * know its length before it is written, and whoever reads it never keeps more than a buffer of it.
   */

  static final byte[] MAGIC = "WPROUTER".getBytes(StandardCharsets.US_ASCII);
  static final int VERSION = 8;
  static final int MAX_PART_BYTES = 1 << 18;

  /** Bounds what a reader makes of one; nothing that is written comes near. */
  static final int MAX_TEXT_BYTES = 1 << 24;

  static final int PART_HEAD_BYTES = 1 + Integer.BYTES;
  static final int GOES_ON = 0x80;
  private static final int CHECKSUM_BYTES = Integer.BYTES;

  private final OutputStream out;
  private final long maxBytes;
  private final CRC32C checksum = new CRC32C();
  private final ByteBuffer buffer =
      ByteBuffer.allocate(PART_HEAD_BYTES + MAX_PART_BYTES + CHECKSUM_BYTES)
          .order(ByteOrder.LITTLE_ENDIAN);
  private Section section = Section.END;
  private int partAt;
  private long sent;

  /**
   * Begins a snapshot.
   *
   * @param maxBytes it may have no more
   */
  public SnapshotOutput(OutputStream out, long maxBytes) {
    this.out = out;
    this.maxBytes = maxBytes;
    buffer.put(MAGIC).putInt(VERSION);
    checksum.update(buffer.array(), 0, buffer.position());
  }

  /** What is written from now on belongs to this section. */
  public void begin(Section section) {
    this.section = section;
    beginPart();
  }

  /** Ends the section. */
  public void end() {
    endPart(0);
  }

  /** Ends the snapshot; flushes the stream and leaves it open. */
  public void finish() {
    begin(Section.END);
    end();
    send();
    try {
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
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

  public void float64(double value) {
    need(Double.BYTES).putDouble(value);
  }

  public void flag(boolean value) {
    int8(value ? 1 : 0);
  }

  /** Writes which of its kind it is; the order of such constants never changes. */
  public void constant(Enum<?> value) {
    int8(value.ordinal());
  }

  public void text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    int32(utf8.length);
    for (int from = 0; from < utf8.length; ) {
      int here = Math.min(utf8.length - from, need(1).remaining() - CHECKSUM_BYTES);
      buffer.put(utf8, from, here);
      from += here;
    }
  }

  /** Writes {@code values[from … from + count − 1]}. */
  public void longs(long[] values, int from, int count) {
    for (int at = from; at < from + count; ) {
      int room = (need(Long.BYTES).remaining() - CHECKSUM_BYTES) / Long.BYTES;
      int here = Math.min(from + count - at, room);
      buffer.asLongBuffer().put(values, at, here);
      buffer.position(buffer.position() + here * Long.BYTES);
      at += here;
    }
  }

  private ByteBuffer need(int bytes) {
    if (buffer.remaining() < bytes + CHECKSUM_BYTES) {
      endPart(GOES_ON);
      beginPart();
    }
    return buffer;
  }

  private void beginPart() {
    if (buffer.remaining() < PART_HEAD_BYTES + Long.BYTES + CHECKSUM_BYTES) {
      send();
    }
    partAt = buffer.position();
    buffer.position(partAt + PART_HEAD_BYTES);
  }

  private void endPart(int goesOn) {
    buffer.put(partAt, (byte) (section.ordinal() | goesOn));
    buffer.putInt(partAt + 1, buffer.position() - partAt - PART_HEAD_BYTES);
    checksum.update(buffer.array(), partAt, buffer.position() - partAt);
    buffer.putInt((int) checksum.getValue());
  }

  private void send() {
    sent += buffer.position();
    try {
      if (sent > maxBytes) {
        throw new IOException("more than " + maxBytes + " bytes");
      }
      out.write(buffer.array(), 0, buffer.position());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    buffer.clear();
  }
}
