package dev.warmpath.router.picker;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Protobuf's wire format, as much of it as the messages here need: numbers, texts, bytes, messages.
 *
 * @see <a href="https://protobuf.dev/programming-guides/encoding/">Encoding</a>
 */
final class Wire {

  private static final int VARINT = 0;
  private static final int FIXED_64 = 1;
  private static final int LENGTH = 2;
  private static final int FIXED_32 = 5;
  private static final int TYPE_BITS = 3;
  private static final int VARINT_BITS = 7;
  private static final int MORE = 0x80;

  private Wire() {}

  /** The peer sent what is no message. */
  static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1;

    MalformedException(String message) {
      super(message);
    }
  }

  /** Goes through the fields of a message: {@link #next}, then one of the others. */
  static final class Reader {
    private final byte[] bytes;
    private final int end;
    private int at;
    private int field;
    private int type;
    private long number;
    private int from;

    Reader(byte[] bytes) {
      this(bytes, 0, bytes.length);
    }

    Reader(byte[] bytes, int from, int to) {
      this.bytes = bytes;
      this.at = from;
      this.end = to;
    }

    /** Reads the next field, and moves behind it; false if there is none. */
    boolean next() throws MalformedException {
      if (at == end) {
        return false;
      }
      int tag = (int) varint();
      field = tag >>> TYPE_BITS;
      type = tag & ((1 << TYPE_BITS) - 1);
      from = at;
      switch (type) {
        case VARINT -> number = varint();
        case FIXED_64 -> skip(Long.BYTES);
        case FIXED_32 -> skip(Integer.BYTES);
        case LENGTH -> {
          long length = varint();
          from = at;
          skip(length);
        }
        default -> throw new MalformedException("wire type " + type);
      }
      return true;
    }

    private void skip(long count) throws MalformedException {
      if (count < 0 || count > end - at) {
        throw new MalformedException("a field is longer than its message");
      }
      at += (int) count;
    }

    private long varint() throws MalformedException {
      long value = 0;
      for (int shift = 0; shift < Long.SIZE; shift += VARINT_BITS) {
        if (at == end) {
          throw new MalformedException("a number ends early");
        }
        byte next = bytes[at++];
        value |= (long) (next & (MORE - 1)) << shift;
        if (next >= 0) {
          return value;
        }
      }
      throw new MalformedException("a number is too long");
    }

    int field() {
      return field;
    }

    long number() throws MalformedException {
      expect(VARINT);
      return number;
    }

    boolean flag() throws MalformedException {
      return number() != 0;
    }

    String text() throws MalformedException {
      expect(LENGTH);
      return new String(bytes, from, at - from, StandardCharsets.UTF_8);
    }

    byte[] bytes() throws MalformedException {
      expect(LENGTH);
      return Arrays.copyOfRange(bytes, from, at);
    }

    Reader message() throws MalformedException {
      expect(LENGTH);
      return new Reader(bytes, from, at);
    }

    private void expect(int wanted) throws MalformedException {
      if (type != wanted) {
        throw new MalformedException("field " + field + " has wire type " + type);
      }
    }
  }

  /** Makes a message, field by field; what has a default's value is to be left out. */
  static final class Writer {
    private static final int FIRST_BYTES = 64;

    private byte[] bytes;
    private int count;

    Writer() {
      this(FIRST_BYTES);
    }

    /** With room for so much. */
    Writer(int length) {
      bytes = new byte[length];
    }

    /** The bytes of a field below 16 whose content has so many. */
    static int lengthOf(int content) {
      int length = 2 + content;
      for (int rest = content >>> VARINT_BITS; rest > 0; rest >>>= VARINT_BITS) {
        length++;
      }
      return length;
    }

    /** Begins a message of a known length; its fields follow. */
    Writer begin(int field, int length) {
      tag(field, LENGTH);
      varint(length);
      return this;
    }

    Writer number(int field, long value) {
      tag(field, VARINT);
      varint(value);
      return this;
    }

    /** Written only if it is true. */
    Writer flag(int field, boolean value) {
      return value ? number(field, 1) : this;
    }

    Writer text(int field, String value) {
      return bytes(field, value.getBytes(StandardCharsets.UTF_8));
    }

    Writer bytes(int field, byte[] value) {
      return bytes(field, value, 0, value.length);
    }

    Writer bytes(int field, byte[] value, int from, int to) {
      tag(field, LENGTH);
      varint(to - from);
      room(to - from);
      System.arraycopy(value, from, bytes, count, to - from);
      count += to - from;
      return this;
    }

    Writer message(int field, Writer value) {
      return bytes(field, value.bytes, 0, value.count);
    }

    /** The message; nothing is written after that. */
    byte[] written() {
      return count == bytes.length ? bytes : Arrays.copyOf(bytes, count);
    }

    private void tag(int field, int type) {
      varint((long) field << TYPE_BITS | type);
    }

    private void varint(long value) {
      long rest = value;
      while ((rest & -MORE) != 0) {
        room(2);
        bytes[count++] = (byte) ((rest & (MORE - 1)) | MORE);
        rest >>>= VARINT_BITS;
      }
      room(1);
      bytes[count++] = (byte) rest;
    }

    private void room(int more) {
      if (count + more > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, count + more));
      }
    }
  }
}
