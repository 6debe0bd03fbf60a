package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.session.StreamMessage;

/**
 * Where a subscriber hands over what it hears; nothing here may block.
 *
 * <p>Implementations are called by the subscriber's thread only.
 */
public interface LiveSink {

  /** A message came, under this topic. */
  void message(byte[] topic, StreamMessage message);

  /** A message was larger than may be; if it shows its number it comes next, without payload. */
  void oversized();

  /** A message found no room and is gone. */
  void refused();

  /** A message of a wrong shape came and is gone. */
  void badMessage(int frames);

  /** The connection is up: its peer speaks ZMQ. */
  void up();

  /** The connection is gone. */
  void down();
}
