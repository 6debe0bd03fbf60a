package dev.warmpath.kvindex.enginehash;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes one Python object, value by value, the way one serializer does.
 *
 * <p>A tuple is opened, its elements are written, then it is closed with the same size, which is at
 * least one.
 *
 * <p>Single writer.
 */
abstract class ObjectWriter {

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
