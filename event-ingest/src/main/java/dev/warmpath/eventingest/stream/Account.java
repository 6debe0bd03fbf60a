package dev.warmpath.eventingest.stream;

import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.knowledge.Knowledge;
import dev.warmpath.eventingest.stream.ResumeListener.Outcome;

/**
 * What the batches of one engine have come to, and what it costs when some are lost or the process
 * is another one.
 *
 * <p>Confined to the writer.
 */
final class Account {

  private final Lifetime lifetime;
  private final Knowledge knowledge;
  private final StreamCounters counters;
  private final EnginePort port;
  private boolean connected;

  Account(Lifetime lifetime, Knowledge knowledge, StreamCounters counters, EnginePort port) {
    this.lifetime = lifetime;
    this.knowledge = knowledge;
    this.counters = counters;
    this.port = port;
  }

  /** Whether what the engine publishes now is heard. */
  boolean isConnected() {
    return connected;
  }

  void connected(boolean now) {
    connected = now;
  }

  /** The first batch of a lifetime that is heard; those before it, if any, are lost. */
  void begin(long sequence, String why) {
    if (sequence == 0) {
      knowledge.complete();
    } else {
      knowledge.incomplete(why + " at batch " + sequence);
      counters.add(StreamCounter.LOST_BATCHES, sequence);
    }
  }

  /** Takes a batch in; it counts as applied only once it is. */
  void apply(StreamMessage batch) {
    String lost = knowledge.apply(batch.sequence(), batch.payload());
    lifetime.add(batch);
    if (lost != null) {
      lose(lost);
    }
    port.applied(batch);
  }

  /** Gives up the batches from the next to the one before {@code sequence}. */
  void giveUpTo(long sequence) {
    counters.add(StreamCounter.LOST_BATCHES, sequence - lifetime.next());
    lose("lost batches " + lifetime.next() + " to " + (sequence - 1));
    lifetime.skipTo(sequence);
  }

  /**
   * Removals may have been missed, or even a restart. After one, a doubt does no harm: only a store
   * of the process that is heard now can prove it. But nothing would ever end it, so it is kept
   * only if the process's start will tell.
   */
  void lose(String why) {
    if (lifetime.mayGoOn(connected)) {
      knowledge.doubt(why);
    } else if (lifetime.isStartKnown()) {
      lifetime.unsure();
      knowledge.doubt(why);
    } else {
      knowledge.forget(why);
    }
  }

  /** The process is another one. */
  void end(String why) {
    lifetime.decided(Outcome.OTHER_LIFETIME, why);
    counters.add(StreamCounter.RESTARTS);
    knowledge.reset(why);
    lifetime.end();
  }

  /** What was restored cannot be shown to be true. */
  void refuse(String why) {
    lifetime.decided(Outcome.NO_ANSWER, why);
    forget("restored from a snapshot, and " + why);
  }

  /** Nothing that is known can be believed, of whatever process it is. */
  void forget(String why) {
    lifetime.decided(Outcome.NO_ANSWER, why);
    knowledge.reset(why);
    lifetime.end();
  }
}
