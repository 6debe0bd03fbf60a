package dev.warmpath.eventingest.capture;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessageUnpacker;

/**
 * Reads MessagePack values from a stream as plain ones: String, Boolean, Long, BigInteger, Double,
 * byte[], List, Map and null; extension values become null.
 *
 * <p>Memory follows the bytes that really come, never a declared length; depth and size of a value
 * are bounded. Throws {@link CaptureException} beyond, msgpack's own exceptions for a value that is
 * none or is cut.
 *
 * <p>Confined to its reader.
 */
final class PlainValues implements AutoCloseable {

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
