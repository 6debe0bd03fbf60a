package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.wire.StreamMessage;

/**
 * What a stream asks of the sockets; nothing here may call back before it returns.
 *
 * <p>Implementations are called by the writer only.
 */
public interface StreamSockets {

  /** Sockets of an engine that has none for replays. */
  StreamSockets NO_REPLAY =
      new StreamSockets() {
        @Override
        public boolean canReplay() {
          return false;
        }

        @Override
        public void replay(long replayId, long fromSequence, boolean repairs) {
          throw new IllegalStateException("replayId=" + replayId + " without a replay socket");
        }

        @Override
        public void reopen() {}
      };

  /** Whether the engine has a replay socket. */
  boolean canReplay();

  /**
   * Asks for all batches from {@code fromSequence} on; the answer goes to {@link
   * EngineStream#replayed} and {@link EngineStream#replayEnded} with the same id.
   *
   * @param repairs whether something may be missing; else it only makes sure, and can wait
   */
  void replay(long replayId, long fromSequence, boolean repairs);

  /** The index shows the batch now, or as much of it as could be read. */
  default void applied(StreamMessage batch) {}

  /** The live connection delivers nothing although there is something: open it anew. */
  void reopen();
}
