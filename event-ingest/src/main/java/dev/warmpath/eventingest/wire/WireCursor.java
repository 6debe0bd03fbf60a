package dev.warmpath.eventingest.wire;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Reads MessagePack values one after another from a payload that nobody vouches for.
 *
 * <p>Every read checks its bounds and its type and throws {@link WireException}. A declared length
 * is refused when the bytes left cannot hold it, so a caller may allocate by it. Nothing recurses.
 *
 * <p>Confined to its decoder.
 */
final class WireCursor {

  /*
   * Most of a payload is token ids. Skipping and reading them avoid branches that depend on an id's
   * width, for those nobody can predict: skipping goes by a table of sizes, and reading shifts the
   * eight bytes from the head on left and right, by the width that the head's last two bits tell.
   */

  private static final int NIL = 0xc0;
  private static final int UNSIGNED_BYTE = 0xcc;
  private static final int UNSIGNED_LONG = 0xcf;
  private static final int SIGNED_LONG = 0xd3;
  private static final int SIZE_FOLLOWS = 0;
  private static final byte[] SIZES = sizes();
  private static final VarHandle LONG =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.BIG_ENDIAN);

  private byte[] bytes = {};
  private int position;

  /** Starts with a payload. */
  void begin(byte[] payload) {
    bytes = payload;
    position = 0;
  }

  /** The payload. */
  byte[] bytes() {
    return bytes;
  }

  int position() {
    return position;
  }

  void seek(int newPosition) {
    position = newPosition;
  }

  /** Whether at least so many bytes are left. */
  boolean hasBytes(int count) {
    return count <= bytes.length - position;
  }

  /** Whether an integer of 8 bytes begins at a place. */
  boolean isLongAt(int place) {
    return place + Long.BYTES < bytes.length
        && (bytes[place] == (byte) UNSIGNED_LONG || bytes[place] == (byte) SIGNED_LONG);
  }

  /** The 8 bytes from a place on. */
  long longAt(int place) {
    return (long) LONG.get(bytes, place);
  }

  boolean atEnd() {
    return position == bytes.length;
  }

  boolean nextIsArray() throws WireException {
    int head = peek();
    return (head & 0xf0) == 0x90 || head == 0xdc || head == 0xdd;
  }

  boolean nextIsMap() throws WireException {
    int head = peek();
    return (head & 0xf0) == 0x80 || head == 0xde || head == 0xdf;
  }

  boolean nextIsText() throws WireException {
    int head = peek();
    return (head & 0xe0) == 0xa0 || (head >= 0xd9 && head <= 0xdb);
  }

  boolean nextIsBinary() throws WireException {
    int head = peek();
    return head >= 0xc4 && head <= 0xc6;
  }

  boolean nextIsNumber() throws WireException {
    int head = peek();
    return head < 0x80 || head >= 0xe0 || (head >= 0xca && head <= 0xd3);
  }

  boolean nextIsInteger() throws WireException {
    int head = peek();
    return head < 0x80 || head >= 0xe0 || (head >= 0xcc && head <= 0xd3);
  }

  /** Passes over a nil if one comes next. */
  boolean skipNil() throws WireException {
    boolean nil = peek() == NIL;
    if (nil) {
      position++;
    }
    return nil;
  }

  /** Passes over one value, however it is nested. */
  void skip() throws WireException {
    int start = position;
    int at = position;
    long pending = 1;
    while (pending > 0) {
      int size = at < bytes.length ? SIZES[bytes[at] & 0xff] : SIZE_FOLLOWS;
      at += size;
      if (size == SIZE_FOLLOWS) {
        position = at;
        pending += skipHead();
        at = position;
      }
      pending--;
      if (pending > bytes.length - at) {
        throw new WireException(start, "a value ends after the payload");
      }
    }
    position = at;
  }

  /** Passes over a value of a given size or the head of a container; returns what is inside. */
  private long skipHead() throws WireException {
    int start = position;
    int head = head();
    return switch (head) {
      case 0xc4, 0xd9 -> advance(unsigned(1));
      case 0xc5, 0xda -> advance(unsigned(2));
      case 0xc6, 0xdb -> advance(unsigned(4));
      case 0xc7 -> advance(unsigned(1) + 1);
      case 0xc8 -> advance(unsigned(2) + 1);
      case 0xc9 -> advance(unsigned(4) + 1);
      case 0xdc -> unsigned(2);
      case 0xdd -> unsigned(4);
      case 0xde -> 2 * unsigned(2);
      case 0xdf -> 2 * unsigned(4);
      default -> {
        if ((head & 0xe0) != 0x80) {
          throw new WireException(start, "a byte that no value begins with");
        }
        yield (head & 0x0f) * (head < 0x90 ? 2 : 1);
      }
    };
  }

  /** Reads the head of an array; that many values follow. */
  int arrayLength() throws WireException {
    return containerLength(0x90, 0xdc, 1);
  }

  /** Reads the head of a map; that many keys and values follow. */
  int mapLength() throws WireException {
    return containerLength(0x80, 0xde, 2);
  }

  /** Heads are a short one with the length in its low bits, and two that 2 or 4 bytes follow. */
  private int containerLength(int shortHead, int longHead, int valuesEach) throws WireException {
    int start = position;
    int head = head();
    long length;
    if ((head & 0xf0) == shortHead) {
      length = head & 0x0f;
    } else if (head == longHead) {
      length = unsigned(2);
    } else if (head == longHead + 1) {
      length = unsigned(4);
    } else {
      throw new WireException(start, valuesEach == 1 ? "not an array" : "not a map");
    }
    return fitting(start, length, valuesEach * length);
  }

  /** Reads an integer of any size as its 64-bit two's-complement pattern. */
  long integer() throws WireException {
    int start = position;
    int head = head();
    if (head < 0x80 || head >= 0xe0) {
      return (byte) head;
    }
    if (head >= UNSIGNED_BYTE && head <= UNSIGNED_LONG && bytes.length - position >= Long.BYTES) {
      int width = 1 << (head - UNSIGNED_BYTE);
      position += width;
      return (long) LONG.get(bytes, position - width) >>> (Long.SIZE - Byte.SIZE * width);
    }
    return switch (head) {
      case 0xcc -> unsigned(1);
      case 0xcd -> unsigned(2);
      case 0xce -> unsigned(4);
      case 0xcf, 0xd3 -> unsigned(8);
      case 0xd0 -> (byte) unsigned(1);
      case 0xd1 -> (short) unsigned(2);
      case 0xd2 -> (int) unsigned(4);
      default -> mismatch(start, "an integer");
    };
  }

  /** Reads an integer that must lie between the bounds, both allowed. */
  int integerWithin(int least, int most) throws WireException {
    int start = position;
    long value = integer();
    if (value < least || value > most) {
      throw new WireException(start, "an integer outside " + least + ".." + most);
    }
    return (int) value;
  }

  /**
   * Reads integers into a range of an array.
   *
   * @return whether all of them are at least 0 and fit an int; of others the low bits are read
   */
  boolean integers(int[] into, int from, int to) throws WireException {
    byte[] in = bytes;
    int lastWord = in.length - Long.BYTES;
    int at = position;
    long highBits = 0;
    for (int i = from; i < to; i++) {
      long word = at <= lastWord ? (long) LONG.get(in, at) : -1;
      int head = (int) (word >>> 56);
      long value;
      if (word >= 0) {
        value = head;
        at++;
      } else if (head >= UNSIGNED_BYTE && head < UNSIGNED_LONG) {
        // No table and no branch on the width: where the next id begins is what everything waits
        // for.
        int bits = Byte.SIZE << (head & 3);
        value = word << Byte.SIZE >>> -bits;
        at += 1 + (bits >>> 3);
      } else {
        position = at;
        value = integer();
        at = position;
      }
      into[i] = (int) value;
      highBits |= value >>> (Integer.SIZE - 1);
    }
    position = at;
    return highBits == 0;
  }

  /** Reads a floating-point number or an integer. */
  double number() throws WireException {
    int head = peek();
    if (head == 0xca) {
      position++;
      return Float.intBitsToFloat((int) unsigned(4));
    }
    if (head == 0xcb) {
      position++;
      return Double.longBitsToDouble(unsigned(8));
    }
    return integer();
  }

  String text() throws WireException {
    return text(textLength());
  }

  /** Reads the bytes of a text whose head is read. */
  String text(int length) {
    position += length;
    return new String(bytes, position - length, length, StandardCharsets.UTF_8);
  }

  /** Reads a text; returns its index in the table, or -1. */
  int textAmong(WordTable words) throws WireException {
    int length = textLength();
    position += length;
    return words.find(bytes, position - length, length);
  }

  /** Passes over as many nils if that is what comes next. */
  boolean skipNils(int count) {
    if (count > bytes.length - position) {
      return false;
    }
    for (int i = position; i < position + count; i++) {
      if (bytes[i] != (byte) NIL) {
        return false;
      }
    }
    position += count;
    return true;
  }

  /** Reads the head of a binary value; its bytes begin at {@link #position}. */
  int binaryLength() throws WireException {
    int start = position;
    long length =
        switch (head()) {
          case 0xc4 -> unsigned(1);
          case 0xc5 -> unsigned(2);
          case 0xc6 -> unsigned(4);
          default -> mismatch(start, "binary");
        };
    return fitting(start, length, length);
  }

  byte[] binary() throws WireException {
    int length = binaryLength();
    position += length;
    return Arrays.copyOfRange(bytes, position - length, position);
  }

  /** Reads up to 8 bytes as an unsigned big-endian number. */
  long unsigned(int length) throws WireException {
    int start = position;
    advance(length);
    long value = 0;
    for (int i = start; i < position; i++) {
      value = (value << Byte.SIZE) | (bytes[i] & 0xff);
    }
    return value;
  }

  /** Passes over bytes; returns 0. */
  long advance(long length) throws WireException {
    if (length > bytes.length - position) {
      throw new WireException(position, "the payload ends inside a value");
    }
    position += (int) length;
    return 0;
  }

  /** Reads the head of a text; its bytes begin at {@link #position}. */
  int textLength() throws WireException {
    int start = position;
    int head = head();
    long length =
        switch (head) {
          case 0xd9 -> unsigned(1);
          case 0xda -> unsigned(2);
          case 0xdb -> unsigned(4);
          default -> (head & 0xe0) == 0xa0 ? head & 0x1f : mismatch(start, "a text");
        };
    return fitting(start, length, length);
  }

  private int fitting(int start, long length, long leastBytes) throws WireException {
    if (leastBytes > bytes.length - position) {
      throw new WireException(start, "a length of " + length + " beyond the payload");
    }
    return (int) length;
  }

  /**
   * The size of the value that a byte begins, {@code SIZE_FOLLOWS} when the byte alone does not
   * say.
   */
  private static byte[] sizes() {
    byte[] sizes = new byte[256];
    Arrays.fill(sizes, 0, 0x80, (byte) 1);
    Arrays.fill(sizes, 0xe0, 0x100, (byte) 1);
    for (int length = 0; length < 0x20; length++) {
      sizes[0xa0 + length] = (byte) (1 + length);
    }
    sizes[0xc0] = sizes[0xc2] = sizes[0xc3] = 1;
    for (int power = 0; power < 4; power++) {
      int width = 1 << power;
      sizes[UNSIGNED_BYTE + power] = sizes[0xd0 + power] = (byte) (1 + width);
      sizes[0xd4 + power] = (byte) (2 + width);
    }
    sizes[0xca] = 5;
    sizes[0xcb] = 9;
    sizes[0xd8] = 18;
    return sizes;
  }

  /**
   * For each head of an unsigned integer of up to 4 bytes: its size, and the shifts left and right
   * that cut the value out of the eight bytes that begin with the head; 0 for other heads.
   */
  private int peek() throws WireException {
    if (position == bytes.length) {
      throw new WireException(position, "the payload ends where a value should begin");
    }
    return bytes[position] & 0xff;
  }

  private int head() throws WireException {
    int head = peek();
    position++;
    return head;
  }

  private static long mismatch(int start, String expected) throws WireException {
    throw new WireException(start, "not " + expected);
  }
}
