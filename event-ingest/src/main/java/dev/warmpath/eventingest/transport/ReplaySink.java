package dev.warmpath.eventingest.transport;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.wire.StreamMessage;
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

  /**
   * A reply was too large, or had a wrong shape and is gone. A large one that shows its number
   * comes next, without payload.
   */
  void problem(StreamCounter what);
}
