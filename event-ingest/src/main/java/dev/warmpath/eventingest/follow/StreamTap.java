package dev.warmpath.eventingest.follow;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Hears what the engines' sockets bring, and what else is told of the engines, before anything is
 * made of it. Nothing here may block or change what it is given.
 *
 * <p>Implementations are thread-safe.
 */
public interface StreamTap {

  /** Ignores everything. */
  StreamTap NONE = new StreamTap() {};

  /** Hears the answer to one replay, on that replay's thread. */
  interface Replies {

    /** A reply, the end marker too; its frames without the delimiter. */
    void reply(List<byte[]> frames);

    /** No more come, for whatever reason. */
    void ended();
  }

  /** A live message came. */
  default void live(EngineId engine, byte[] topic, StreamMessage message) {}

  /** A replay begins; who hears its answer, or null for nobody. */
  default @Nullable Replies replay(EngineId engine, long fromSequence) {
    return null;
  }

  /** The live connection is up. */
  default void connected(EngineId engine) {}

  /** The live connection is gone. */
  default void disconnected(EngineId engine) {}

  /** The engine is known to be another process by other signs than its events. */
  default void restarted(EngineId engine, String why) {}

  /** The engine's cache is known to be empty by other signs than its events. */
  default void cleared(EngineId engine, String why) {}
}
