package dev.warmpath.eventingest.capture;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageInsufficientBufferException;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageSizeException;
import org.msgpack.core.MessageUnpacker;

/**
 * Reads a capture file, plain or gzip-compressed, record by record.
 *
 * <p>A file that was cut, as a crash leaves it, gives every whole record; then {@link #next} is
 * null and {@link #truncated} true. Other damage is a {@link CaptureException}. Records of unknown
 * kinds are passed over.
 *
 * <p>Confined to its reader's thread.
 */
public final class CaptureReader implements AutoCloseable {

  /** The largest record that is read, in bytes. */
  public static final long MAX_RECORD_BYTES = 256L << 20;

  private final String name;
  private final PlainValues values;
  private final CaptureHeader header;
  private long records;
  private boolean truncated;

  private CaptureReader(String name, InputStream in) throws IOException {
    this.name = name;
    values = new PlainValues(in, MAX_RECORD_BYTES);
    header = readHeader();
  }

  /** Opens a file and reads its header. */
  public static CaptureReader open(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new CaptureException(file + ": is a directory");
    }
    return of(file.toString(), Files.newInputStream(file));
  }

  /** Reads from a stream that it closes, also when it cannot be read; errors say {@code name}. */
  public static CaptureReader of(String name, InputStream in) throws IOException {
    try {
      return new CaptureReader(name, decompressed(new BufferedInputStream(in)));
    } catch (EOFException e) {
      in.close();
      throw new CaptureException(name + ": ends inside the header", e);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  public CaptureHeader header() {
    return header;
  }

  /** Whether the file ends inside a record. */
  public boolean truncated() {
    return truncated;
  }

  /** How many records have been read, those of unknown kinds included. */
  public long records() {
    return records;
  }

  /** The next record, or null behind the last one. */
  public @Nullable CaptureRecord next() throws IOException {
    CaptureRecord record = null;
    while (record == null && !truncated && more()) {
      Object value = read();
      if (!truncated) {
        record = record(value);
        records++;
      }
    }
    return record;
  }

  @Override
  public void close() throws IOException {
    values.close();
  }

  private static InputStream decompressed(InputStream in) throws IOException {
    in.mark(2);
    boolean gzip = in.read() == 0x1f && in.read() == 0x8b;
    in.reset();
    return gzip ? new GZIPInputStream(in) : in;
  }

  private boolean more() throws IOException {
    try {
      return values.hasNext();
    } catch (EOFException e) {
      truncated = true;
      return false;
    } catch (ZipException e) {
      throw damaged("damaged compression", e);
    }
  }

  /** Reads one value; sets {@link #truncated} when the file ends inside it. */
  private @Nullable Object read() throws IOException {
    try {
      return values.next();
    } catch (EOFException | MessageInsufficientBufferException e) {
      truncated = true;
      return null;
    } catch (MessageSizeException e) {
      throw damaged("a length of " + e.getSize() + ", which is too much", e);
    } catch (MessagePackException e) {
      throw damaged("no MessagePack", e);
    } catch (ZipException | CaptureException e) {
      throw damaged(String.valueOf(e.getMessage()), e);
    }
  }

  private CaptureHeader readHeader() throws IOException {
    Object value = more() ? read() : null;
    if (truncated || value == null) {
      throw new CaptureException(name + ": ends inside the header");
    }
    try {
      return CaptureFormat.header(value);
    } catch (IllegalArgumentException e) {
      throw new CaptureException(name + ": not a capture file: " + e.getMessage(), e);
    }
  }

  private @Nullable CaptureRecord record(@Nullable Object value) throws IOException {
    try {
      return CaptureFormat.record(value);
    } catch (IllegalArgumentException e) {
      throw damaged(String.valueOf(e.getMessage()), e);
    }
  }

  private CaptureException damaged(String problem, Throwable cause) {
    String where = ": record " + (records + 1) + ", before byte " + values.bytesRead() + ": ";
    return new CaptureException(name + where + problem, cause);
  }

  /**
   * Reads MessagePack values from a stream as plain ones: String, Boolean, Long, BigInteger,
   * Double, byte[], List, Map and null; extension values become null.
   *
   * <p>Memory follows the bytes that really come, never a declared length; depth and size of a
   * value are bounded. Throws {@link CaptureException} beyond, msgpack's own exceptions for a value
   * that is none or is cut.
   *
   * <p>Confined to its reader.
   */
  static final class PlainValues implements AutoCloseable {

    private static final int MAX_DEPTH = 64;
    private static final int CHUNK_BYTES = 1 << 16;

    private final MessageUnpacker unpacker;
    private final long maxValueBytes;
    private long start;

    PlainValues(InputStream in, long maxValueBytes) {
      unpacker = MessagePack.newDefaultUnpacker(in);
      this.maxValueBytes = maxValueBytes;
    }

    /** How many bytes have been read, after decompression. */
    long bytesRead() {
      return unpacker.getTotalReadBytes();
    }

    boolean hasNext() throws IOException {
      return unpacker.hasNext();
    }

    @Nullable Object next() throws IOException {
      start = bytesRead();
      return value(0);
    }

    @Override
    public void close() throws IOException {
      unpacker.close();
    }

    private @Nullable Object value(int depth) throws IOException {
      if (depth > MAX_DEPTH) {
        throw new CaptureException("a value nested deeper than " + MAX_DEPTH);
      }
      checkSize(0);
      return switch (unpacker.getNextFormat().getValueType()) {
        case NIL -> nil();
        case BOOLEAN -> unpacker.unpackBoolean();
        case INTEGER -> integer();
        case FLOAT -> unpacker.unpackDouble();
        case STRING -> new String(bytes(unpacker.unpackRawStringHeader()), StandardCharsets.UTF_8);
        case BINARY -> bytes(unpacker.unpackBinaryHeader());
        case ARRAY -> list(depth);
        case MAP -> map(depth);
        case EXTENSION -> extension();
      };
    }

    private @Nullable Object nil() throws IOException {
      unpacker.unpackNil();
      return null;
    }

    private Object integer() throws IOException {
      BigInteger value = unpacker.unpackBigInteger();
      return value.bitLength() < Long.SIZE ? (Object) value.longValue() : value;
    }

    private List<@Nullable Object> list(int depth) throws IOException {
      List<@Nullable Object> list = new ArrayList<>();
      for (int left = unpacker.unpackArrayHeader(); left > 0; left--) {
        list.add(value(depth + 1));
      }
      return list;
    }

    private Map<String, @Nullable Object> map(int depth) throws IOException {
      Map<String, @Nullable Object> map = new LinkedHashMap<>();
      for (int left = unpacker.unpackMapHeader(); left > 0; left--) {
        if (!(value(depth + 1) instanceof String key)) {
          throw new CaptureException("a map key that is not a text");
        }
        map.put(key, value(depth + 1));
      }
      return map;
    }

    private @Nullable Object extension() throws IOException {
      bytes(unpacker.unpackExtensionTypeHeader().getLength());
      return null;
    }

    private byte[] bytes(int length) throws IOException {
      checkSize(length);
      if (length <= CHUNK_BYTES) {
        return unpacker.readPayload(length);
      }
      ByteArrayOutputStream bytes = new ByteArrayOutputStream(CHUNK_BYTES);
      for (int left = length; left > 0; left -= CHUNK_BYTES) {
        bytes.write(unpacker.readPayload(Math.min(left, CHUNK_BYTES)));
      }
      return bytes.toByteArray();
    }

    private void checkSize(int more) throws CaptureException {
      if (bytesRead() + more - start > maxValueBytes) {
        throw new CaptureException("a value of more than " + maxValueBytes + " bytes");
      }
    }
  }
}
