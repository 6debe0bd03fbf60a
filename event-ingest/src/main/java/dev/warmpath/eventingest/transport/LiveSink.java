package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.wire.StreamMessage;

/**
 * Where a subscriber hands over what it hears; nothing here may block.
 *
 * <p>Implementations are called by the subscriber's thread only.
 */
public interface LiveSink {

  /** A message came, under this topic. */
  void message(byte[] topic, StreamMessage message);

  /**
   * A message was too large, or had a wrong shape and is gone. A large one that shows its number
   * comes next, without payload.
   */
  void problem(StreamCounter what);

  /** A message found no room and is gone. */
  void refused();

  /** The connection is up: its peer speaks ZMQ. */
  void up();

  /** The connection is gone. */
  void down();
}
