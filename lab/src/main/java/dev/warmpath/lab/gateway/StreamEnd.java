package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;

/**
 * Looks whether an event stream ends as it should, from its last bytes alone.
 *
 * <p>Confined to its event loop.
 */
final class StreamEnd {

  private static final int LOOKED_AT = 16;
  private static final long MASK = (1L << 48) - 1;
  private static final long DONE = last("[DONE]");

  private long last; // bytes that are no white space, the latest lowest

  void reset() {
    last = 0;
  }

  void read(ByteBuf body) {
    int end = body.writerIndex();
    for (int i = Math.max(body.readerIndex(), end - LOOKED_AT); i < end; i++) {
      byte next = body.getByte(i);
      last = next <= ' ' ? last : (last << 8) | (next & 0xFF);
    }
  }

  /** Whether the last that was read is {@code [DONE]}. */
  boolean isDone() {
    return (last & MASK) == DONE;
  }

  private static long last(String text) {
    return text.chars().asLongStream().reduce(0, (bytes, next) -> (bytes << 8) | next);
  }
}
