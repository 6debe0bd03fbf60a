package dev.warmpath.kvindex.enginehash;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Python's pickle, protocol 5, as CPython's C pickler writes it.
 *
 * <p>Bytes, strings and tuples are numbered in the order in which they are complete; the same
 * string constant again becomes a reference to its number. Output is cut into frames of 64 KiB at
 * the first value boundary behind that length.
 *
 * <p>Single writer.
 */
final class PickleWriter extends ObjectWriter {

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
