package dev.warmpath.kvindex.snapshot;

import static dev.warmpath.kvindex.snapshot.SnapshotOutput.GOES_ON;
import static dev.warmpath.kvindex.snapshot.SnapshotOutput.MAGIC;
import static dev.warmpath.kvindex.snapshot.SnapshotOutput.MAX_PART_BYTES;
import static dev.warmpath.kvindex.snapshot.SnapshotOutput.MAX_TEXT_BYTES;
import static dev.warmpath.kvindex.snapshot.SnapshotOutput.PART_HEAD_BYTES;
import static dev.warmpath.kvindex.snapshot.SnapshotOutput.VERSION;

import dev.warmpath.kvindex.snapshot.SnapshotException.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * Reads what {@link SnapshotOutput} wrote; gives nothing away before its checksum was compared.
 *
 * <p>What cannot be is a {@link SnapshotException} that names the place. Single writer.
 */
public final class SnapshotInput {

  /*
   * Versions 7 and 6 have the same fields in the same order, without the last of a stream. Those of
   * version 6, which the last release wrote, lie otherwise:
   *
   *   WPROUTER | 6 (4) | length (4) | head and streams | CRC-32C (4)       all big-endian
   *   WPKVSNAP | 1 (4) | chunk …                                           little-endian
   *   chunk   length (4), 0 for the last | fields | CRC-32C (4)
   *
   * So the first piece is read as one part, and a chunk as a part that may go on in any section. Goes
   * when the next release is out: all of it has "Old" in its name.
   */

  private static final int HEAD_BYTES = 12;
  private static final int VERSION_BEFORE = 7;
  private static final int OLD_VERSION = 6;
  private static final int OLD_MAX_INGEST_BYTES = 64 << 20;
  private static final byte[] OLD_INDEX_HEAD =
      "WPKVSNAP\1\0\0\0".getBytes(StandardCharsets.US_ASCII);

  private final InputStream in;
  private final long maxBytes;
  private final int version;
  private final boolean isOld;
  private final CRC32C checksum = new CRC32C();
  private final ByteBuffer frame = ByteBuffer.allocate(HEAD_BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private ByteBuffer part =
      ByteBuffer.allocate(MAX_PART_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
  private Section section = Section.END;
  private boolean goesOn;
  private long offset;
  private long partOffset;
  private int field;

  /**
   * Begins to read a snapshot.
   *
   * @param maxBytes no more are read
   */
  public SnapshotInput(InputStream in, long maxBytes) throws IOException {
    this.in = in;
    this.maxBytes = maxBytes;
    readFully(frame.array(), HEAD_BYTES);
    checksum.update(frame.array(), 0, HEAD_BYTES);
    if (!Arrays.equals(frame.array(), 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      throw at(0, "no snapshot of a router");
    }
    int found = frame.getInt(MAGIC.length);
    version = found << 8 == 0 ? Integer.reverseBytes(found) : found; // big-endian to version 6
    if (version < OLD_VERSION || version > VERSION) {
      throw new SnapshotException(
          Reason.OTHER_VERSION,
          "version %s, only %d to %d are understood"
              .formatted(Integer.toUnsignedString(version), OLD_VERSION, VERSION));
    }
    isOld = version == OLD_VERSION;
    if (isOld) {
      readOldIngest();
    }
  }

  /** Whether this version writes fields that the ones before did not have. */
  public boolean isNewest() {
    return version > VERSION_BEFORE;
  }

  /** What is read from now on must belong to this section. */
  public void begin(Section section) throws IOException {
    this.section = section;
    goesOn = true;
    if (!isOld) {
      nextPart();
    } else if (section == Section.ENGINES) {
      beginOldIndex();
    }
  }

  /** Makes sure that the section ends here. */
  public void end() throws IOException {
    if (!isOld && (part.hasRemaining() || goesOn)) {
      field = part.position();
      throw damaged("more than belongs there");
    }
  }

  /** Makes sure that the snapshot ends here, and the stream with it. */
  public void finish() throws IOException {
    if (isOld) {
      field = part.position();
      if (part.hasRemaining() || nextOldChunk()) {
        throw damaged("more than an index");
      }
    } else {
      begin(Section.END);
      end();
    }
    if (in.read() >= 0) {
      throw at(offset, "more follows");
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

  public double float64() throws IOException {
    return need(Double.BYTES).getDouble();
  }

  public boolean flag(String name) throws IOException {
    return int8(name, 1) == 1;
  }

  /**
   * One of a kind.
   *
   * @param all of its kind, in order
   */
  public <E extends Enum<E>> E constant(String name, E[] all) throws IOException {
    if (part.order() == ByteOrder.BIG_ENDIAN) { // only where it is old
      String text = text(name);
      return Arrays.stream(all)
          .filter(each -> each.name().equals(text))
          .findFirst()
          .orElseThrow(() -> damaged(name + "=" + text));
    }
    return all[int8(name, all.length - 1)];
  }

  /** A text; takes no more memory than bytes came. */
  public String text(String name) throws IOException {
    int bytes = int32(name, 0, MAX_TEXT_BYTES);
    ByteArrayOutputStream utf8 = new ByteArrayOutputStream();
    while (utf8.size() < bytes) {
      int here = Math.min(bytes - utf8.size(), need(1).remaining());
      utf8.write(part.array(), part.arrayOffset() + part.position(), here);
      part.position(part.position() + here);
    }
    return utf8.toString(StandardCharsets.UTF_8);
  }

  /** Fills {@code values[from … from + count − 1]}. */
  public void longs(long[] values, int from, int count) throws IOException {
    for (int at = from; at < from + count; ) {
      need(Long.BYTES);
      int here = Math.min(from + count - at, part.remaining() / Long.BYTES);
      part.asLongBuffer().get(values, at, here);
      part.position(part.position() + here * Long.BYTES);
      at += here;
    }
  }

  /** Bytes that are there for sure, as far as the stream tells. */
  public int available() throws IOException {
    return in.available();
  }

  /** What to throw when the last field cannot be. */
  public SnapshotException damaged(String what) {
    return at(partOffset + field, section + ": " + what);
  }

  private static SnapshotException at(long offset, String what) {
    return new SnapshotException(Reason.DAMAGED, "at byte " + offset + ": " + what);
  }

  private int inRange(String name, int value, int min, int max) throws SnapshotException {
    if (value < min || value > max) {
      throw damaged(name + "=" + value + " is not from " + min + " to " + max);
    }
    return value;
  }

  private ByteBuffer need(int bytes) throws IOException {
    while (!part.hasRemaining()) {
      field = part.position();
      if (isOld ? !nextOldChunk() : !goesOn) {
        throw damaged("ends too early");
      }
      if (!isOld) {
        nextPart();
      }
    }
    field = part.position();
    if (part.remaining() < bytes) {
      throw damaged("a field goes beyond its part");
    }
    return part;
  }

  private void nextPart() throws IOException {
    readFully(frame.array(), PART_HEAD_BYTES);
    checksum.update(frame.array(), 0, PART_HEAD_BYTES);
    int kind = frame.get(0) & 0xFF;
    readPart(frame.getInt(1));
    goesOn = (kind & GOES_ON) != 0;
    if ((kind & ~GOES_ON) != section.ordinal()) {
      throw damaged("expected, but section " + (kind & ~GOES_ON) + " stands here");
    }
  }

  private void readPart(int length) throws IOException {
    if (length < 0 || length > MAX_PART_BYTES) {
      throw at(offset - Integer.BYTES, "part of " + length + " bytes");
    }
    partOffset = offset;
    field = 0;
    readFully(part.array(), length);
    checksum.update(part.array(), 0, length);
    readFully(frame.array(), Integer.BYTES);
    if (frame.getInt(0) != (int) checksum.getValue()) {
      throw at(offset - Integer.BYTES, "checksum does not match");
    }
    part.position(0).limit(length);
  }

  private void readFully(byte[] into, int count) throws IOException {
    if (offset + count > maxBytes) {
      throw new SnapshotException(Reason.TOO_LARGE, "more than " + maxBytes + " bytes");
    }
    int read = in.readNBytes(into, 0, count);
    offset += read;
    if (read < count) {
      throw at(offset, "cut");
    }
  }

  private void readOldIngest() throws IOException {
    ByteBuffer head = ByteBuffer.wrap(frame.array());
    readFully(frame.array(), Integer.BYTES);
    checksum.update(frame.array(), 0, Integer.BYTES);
    int length = head.getInt(0);
    if (length < 0 || length > Math.min(OLD_MAX_INGEST_BYTES, maxBytes - offset)) {
      throw at(offset - Integer.BYTES, "ingest state of " + length + " bytes");
    }
    partOffset = offset;
    byte[] ingest = in.readNBytes(length);
    offset += ingest.length;
    checksum.update(ingest);
    readFully(frame.array(), Integer.BYTES);
    if (head.getInt(0) != (int) checksum.getValue()) {
      throw at(offset - Integer.BYTES, "checksum does not match");
    }
    part = ByteBuffer.wrap(ingest);
  }

  private void beginOldIndex() throws IOException {
    if (part.hasRemaining()) {
      throw damaged("more than belongs there");
    }
    readFully(frame.array(), HEAD_BYTES);
    if (!Arrays.equals(frame.array(), OLD_INDEX_HEAD)) {
      throw at(offset - HEAD_BYTES, "no snapshot of an index");
    }
    checksum.reset();
    checksum.update(OLD_INDEX_HEAD);
    part = ByteBuffer.allocate(MAX_PART_BYTES).order(ByteOrder.LITTLE_ENDIAN).limit(0);
  }

  /** Reads a chunk; false if it was the empty one that comes last, or there is none here. */
  private boolean nextOldChunk() throws IOException {
    if (part.order() == ByteOrder.BIG_ENDIAN) {
      return false;
    }
    readFully(frame.array(), Integer.BYTES);
    checksum.update(frame.array(), 0, Integer.BYTES);
    readPart(frame.getInt(0));
    return part.hasRemaining();
  }
}
