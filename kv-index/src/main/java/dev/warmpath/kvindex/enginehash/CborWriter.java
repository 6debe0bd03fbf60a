package dev.warmpath.kvindex.enginehash;

/**
 * Canonical CBOR (RFC 8949, section 4.2.1): definite lengths, shortest heads.
 *
 * <p>Single writer.
 */
final class CborWriter extends ObjectWriter {

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
