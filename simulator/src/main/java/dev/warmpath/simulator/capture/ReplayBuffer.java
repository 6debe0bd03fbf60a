package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.Collection;
import java.util.TreeMap;

/**
 * The last batches of one lifetime of an engine, by number, as its replay socket has them.
 *
 * <p>Confined to its user's thread.
 */
final class ReplayBuffer {

  private final int maxBatches;
  private final TreeMap<Long, StreamMessage> batches = new TreeMap<>();
  private long lastPublished = -1;

  public ReplayBuffer(int maxBatches) {
    this.maxBatches = maxBatches;
  }

  /** Adds what was just published; a number that does not grow begins a new lifetime. */
  public void published(StreamMessage batch) {
    if (batch.sequence() <= lastPublished) {
      batches.clear();
    }
    lastPublished = batch.sequence();
    add(batch);
  }

  /** Adds what the recorded engine had although it was not heard live. */
  public void add(StreamMessage batch) {
    batches.put(batch.sequence(), batch);
    if (batches.size() > maxBatches) {
      batches.pollFirstEntry();
    }
  }

  /** What there is from a number on. */
  public Collection<StreamMessage> from(long sequence) {
    return batches.tailMap(sequence).values();
  }
}
