package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.session.StreamMessage;
import java.util.List;

/**
 * Where a replay hands over what it hears; may block, which slows the replay down.
 *
 * <p>Implementations are called by the replay's thread only.
 */
public interface ReplaySink {

  /** A batch came; returns whether more are wanted. */
  boolean batch(StreamMessage batch);

  /** A reply came, the end marker or whatever it is; its frames without the delimiter. */
  default void reply(List<byte[]> frames) {}

  /** A reply was larger than may be; if it shows its number it comes next, without payload. */
  void oversized();

  /** A reply of a wrong shape came and is gone. */
  void badReply(int frames);
}
