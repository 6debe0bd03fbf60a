package dev.warmpath.kvindex.runs.snapshot;

import static dev.warmpath.kvindex.runs.snapshot.SnapshotOutput.MAGIC;
import static dev.warmpath.kvindex.runs.snapshot.SnapshotOutput.MAX_CHUNK_BYTES;
import static dev.warmpath.kvindex.runs.snapshot.SnapshotOutput.VERSION;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Reads what {@link SnapshotOutput} wrote, and not a byte more of the stream; gives nothing away
 * before its checksum was compared.
 *
 * <p>Single writer.
 */
public final class SnapshotInput {

  private final InputStream in;
  private final CRC32C checksum = new CRC32C();
  private final ByteBuffer chunk =
      ByteBuffer.allocate(MAX_CHUNK_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final ByteBuffer frame = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
  private long offset;
  private long chunkOffset;
  private int field;

  /** Begins to read a snapshot. */
  public SnapshotInput(InputStream in) throws IOException {
    this.in = in;
    chunk.limit(0);
    readFully(frame.array(), 12);
    if (!Arrays.equals(frame.array(), 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      throw new SnapshotException("no snapshot of an index", 0);
    }
    checksum.update(frame.array(), 0, 12);
    int version = frame.getInt(MAGIC.length);
    if (version != VERSION) {
      throw SnapshotException.otherVersion(
          "version " + Integer.toUnsignedString(version) + ", only " + VERSION + " is understood",
          MAGIC.length);
    }
  }

  /** A byte from 0 to {@code max}. */
  public int int8(String name, int max) throws IOException {
    int value = need(1).get() & 0xFF;
    return inRange(name, value, 0, max);
  }

  /** A number from {@code min} to {@code max}. */
  public int int32(String name, int min, int max) throws IOException {
    return inRange(name, need(Integer.BYTES).getInt(), min, max);
  }

  public long int64() throws IOException {
    return need(Long.BYTES).getLong();
  }

  /** A number that is at least 0. */
  public long count(String name) throws IOException {
    long value = int64();
    if (value < 0) {
      throw damaged(name + "=" + value);
    }
    return value;
  }

  /** Fills {@code values[from … from + count − 1]}. */
  public void longs(long[] values, int from, int count) throws IOException {
    for (int at = from; at < from + count; ) {
      need(Long.BYTES);
      int here = Math.min(from + count - at, chunk.remaining() / Long.BYTES);
      chunk.asLongBuffer().get(values, at, here);
      chunk.position(chunk.position() + here * Long.BYTES);
      at += here;
    }
  }

  /** Makes sure that the snapshot ends here. */
  public void end() throws IOException {
    if (chunk.hasRemaining() || nextChunk()) {
      field = chunk.position();
      throw damaged("more than an index");
    }
  }

  /** Bytes that are there for sure, as far as the stream tells. */
  public int available() throws IOException {
    return in.available();
  }

  /** What to throw when the last field cannot be. */
  public SnapshotException damaged(String what) {
    return new SnapshotException(what, chunkOffset + field);
  }

  private int inRange(String name, int value, int min, int max) throws SnapshotException {
    if (value < min || value > max) {
      throw damaged(name + "=" + value + " is not from " + min + " to " + max);
    }
    return value;
  }

  private ByteBuffer need(int bytes) throws IOException {
    if (!chunk.hasRemaining() && !nextChunk()) {
      throw damaged("ends too early");
    }
    field = chunk.position();
    if (chunk.remaining() < bytes) {
      throw damaged("a field goes beyond its chunk");
    }
    return chunk;
  }

  /** Reads a chunk; false if it was the empty one that comes last. */
  private boolean nextChunk() throws IOException {
    readFully(frame.array(), Integer.BYTES);
    checksum.update(frame.array(), 0, Integer.BYTES);
    int length = frame.getInt(0);
    if (length < 0 || length > MAX_CHUNK_BYTES) {
      throw new SnapshotException("chunk of " + length + " bytes", offset - Integer.BYTES);
    }
    chunkOffset = offset;
    field = 0;
    readFully(chunk.array(), length);
    checksum.update(chunk.array(), 0, length);
    readFully(frame.array(), Integer.BYTES);
    if (frame.getInt(0) != (int) checksum.getValue()) {
      throw new SnapshotException("checksum does not match", offset - Integer.BYTES);
    }
    chunk.position(0).limit(length);
    return length > 0;
  }

  private void readFully(byte[] into, int count) throws IOException {
    int read = in.readNBytes(into, 0, count);
    offset += read;
    if (read < count) {
      throw new SnapshotException("cut", offset);
    }
  }
}
