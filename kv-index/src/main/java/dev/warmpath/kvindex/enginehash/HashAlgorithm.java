package dev.warmpath.kvindex.enginehash;

import com.dynatrace.hash4j.hashing.HashValue128;
import com.dynatrace.hash4j.hashing.Hashing;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** How vLLM turns a block into bytes, and the bytes into a hash. */
public enum HashAlgorithm {
  /** {@code sha256}: the bytes of Python's pickle, protocol 5; vLLM's default. */
  SHA256,
  /** {@code sha256_cbor}: canonical CBOR. */
  SHA256_CBOR,
  /** {@code xxhash}: pickle again, and XXH3-128, big-endian. */
  XXHASH,
  /** {@code xxhash_cbor}. */
  XXHASH_CBOR;

  ObjectWriter writer() {
    return this == SHA256 || this == XXHASH ? new PickleWriter() : new CborWriter();
  }

  byte[] digest(byte[] bytes) {
    return this == SHA256 || this == SHA256_CBOR ? sha256(bytes) : xxh3(bytes);
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has SHA-256", e);
    }
  }

  private static byte[] xxh3(byte[] bytes) {
    HashValue128 hash = Hashing.xxh3_128().hashBytesTo128Bits(bytes);
    return ByteBuffer.allocate(2 * Long.BYTES)
        .putLong(hash.getMostSignificantBits())
        .putLong(hash.getLeastSignificantBits())
        .array();
  }

  /**
   * Canonical CBOR (RFC 8949, section 4.2.1): definite lengths, shortest heads.
   *
   * <p>Single writer.
   */
  private static final class CborWriter extends ObjectWriter {

    private static final int UNSIGNED = 0;
    private static final int NEGATIVE = 1;
    private static final int BYTES = 2;
    private static final int TEXT = 3;
    private static final int ARRAY = 4;
    private static final int NULL = 0xf6;

    @Override
    void none() {
      put(NULL);
    }

    @Override
    void integer(int value) {
      if (value < 0) {
        head(NEGATIVE, ~value);
      } else {
        head(UNSIGNED, value);
      }
    }

    @Override
    void bytes(byte[] value) {
      head(BYTES, value.length);
      put(value);
    }

    @Override
    void text(String value) {
      byte[] utf8 = utf8(value);
      head(TEXT, utf8.length);
      put(utf8);
    }

    @Override
    void constant(String value) {
      text(value);
    }

    @Override
    void openTuple(int size) {
      head(ARRAY, size);
    }

    @Override
    void closeTuple(int size) {
      // A definite length needs no end.
    }

    private void head(int majorType, int argument) {
      int type = majorType << 5;
      if (argument < 24) {
        put(type | argument);
      } else if (argument < 1 << 8) {
        put(type | 24);
        putBigEndian(argument, 1);
      } else if (argument < 1 << 16) {
        put(type | 25);
        putBigEndian(argument, 2);
      } else {
        put(type | 26);
        putBigEndian(argument, 4);
      }
    }
  }

  /**
   * Python's pickle, protocol 5, as CPython's C pickler writes it.
   *
   * <p>Bytes, strings and tuples are numbered in the order in which they are complete; the same
   * string constant again becomes a reference to its number. Output is cut into frames of 64 KiB at
   * the first value boundary behind that length.
   *
   * <p>Single writer.
   */
  private static final class PickleWriter extends ObjectWriter {

    private static final int PROTO = 0x80;
    private static final int FRAME = 0x95;
    private static final int STOP = '.';
    private static final int NONE = 'N';
    private static final int BININT = 'J';
    private static final int BININT1 = 'K';
    private static final int BININT2 = 'M';
    private static final int SHORT_BINBYTES = 'C';
    private static final int BINBYTES = 'B';
    private static final int SHORT_BINUNICODE = 0x8c;
    private static final int BINUNICODE = 'X';
    private static final int TUPLE1 = 0x85;
    private static final int MARK = '(';
    private static final int TUPLE = 't';
    private static final int MEMOIZE = 0x94;
    private static final int BINGET = 'h';
    private static final int FRAME_SIZE_TARGET = 64 * 1024;

    private final Map<String, Integer> constants = new HashMap<>();
    private final List<Integer> frameStarts = new ArrayList<>(List.of(0));
    private int memoized;

    @Override
    void none() {
      beginValue();
      put(NONE);
    }

    @Override
    void integer(int value) {
      beginValue();
      if (value >>> 8 == 0) {
        put(BININT1);
        putLittleEndian(value, 1);
      } else if (value >>> 16 == 0) {
        put(BININT2);
        putLittleEndian(value, 2);
      } else {
        put(BININT);
        putLittleEndian(value, 4);
      }
    }

    @Override
    void bytes(byte[] value) {
      beginValue();
      sized(SHORT_BINBYTES, BINBYTES, value);
      memoize();
    }

    @Override
    void text(String value) {
      beginValue();
      sized(SHORT_BINUNICODE, BINUNICODE, utf8(value));
      memoize();
    }

    @Override
    void constant(String value) {
      Integer number = constants.get(value);
      if (number == null) {
        text(value);
        constants.put(value, memoized - 1);
      } else {
        beginValue();
        put(BINGET);
        putLittleEndian(number, 1);
      }
    }

    @Override
    void openTuple(int size) {
      beginValue();
      if (size > 3) {
        put(MARK);
      }
    }

    @Override
    void closeTuple(int size) {
      put(size > 3 ? TUPLE : TUPLE1 + size - 1);
      memoize();
    }

    @Override
    byte[] finish() {
      put(STOP);
      byte[] values = super.finish();
      frameStarts.add(values.length);
      ByteArrayOutputStream pickle = new ByteArrayOutputStream(values.length + 16);
      pickle.write(PROTO);
      pickle.write(5);
      for (int i = 1; i < frameStarts.size(); i++) {
        int start = frameStarts.get(i - 1);
        int length = frameStarts.get(i) - start;
        pickle.write(FRAME);
        pickle.writeBytes(
            ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(length).array());
        pickle.write(values, start, length);
      }
      return pickle.toByteArray();
    }

    private void beginValue() {
      if (written() - frameStarts.get(frameStarts.size() - 1) >= FRAME_SIZE_TARGET) {
        frameStarts.add(written());
      }
    }

    private void sized(int shortCode, int longCode, byte[] value) {
      if (value.length < 1 << 8) {
        put(shortCode);
        putLittleEndian(value.length, 1);
      } else {
        put(longCode);
        putLittleEndian(value.length, 4);
      }
      put(value);
    }

    private void memoize() {
      put(MEMOIZE);
      memoized++;
    }
  }

  /**
   * Writes one Python object, value by value, the way one serializer does.
   *
   * <p>A tuple is opened, its elements are written, then it is closed with the same size, which is
   * at least one.
   *
   * <p>Single writer.
   */
  abstract static class ObjectWriter {

    private final ByteArrayOutputStream out = new ByteArrayOutputStream(256);

    abstract void none();

    abstract void integer(int value);

    abstract void bytes(byte[] value);

    /** A string that is an object of its own. */
    abstract void text(String value);

    /** A string constant of the program: the same object each time. */
    abstract void constant(String value);

    abstract void openTuple(int size);

    abstract void closeTuple(int size);

    /** The object's bytes; nothing may be written afterwards. */
    byte[] finish() {
      return out.toByteArray();
    }

    final void integers(int[] values, int from, int length) {
      openTuple(length);
      for (int i = from; i < from + length; i++) {
        integer(values[i]);
      }
      closeTuple(length);
    }

    final void put(int oneByte) {
      out.write(oneByte);
    }

    final void put(byte[] bytes) {
      out.writeBytes(bytes);
    }

    final void putLittleEndian(long value, int bytes) {
      for (int i = 0; i < bytes; i++) {
        put((int) (value >>> (8 * i)));
      }
    }

    final void putBigEndian(long value, int bytes) {
      for (int i = bytes - 1; i >= 0; i--) {
        put((int) (value >>> (8 * i)));
      }
    }

    final int written() {
      return out.size();
    }

    static byte[] utf8(String text) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
  }
}
