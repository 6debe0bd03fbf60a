package dev.warmpath.lab.ingest;

import dev.warmpath.lab.index.HashNames;
import dev.warmpath.lab.index.SerialEngine;
import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.EventPublisher;
import dev.warmpath.simulator.live.Ports;
import dev.warmpath.simulator.live.PublisherOptions;
import java.util.Arrays;
import java.util.List;

/**
 * An engine that serves conversations, a quarter of which all engines serve, and publishes what its
 * cache stores and evicts, one batch for each.
 *
 * <p>Confined to the thread of the bench.
 */
final class RecoveryEngine implements AutoCloseable {

  /** Enough for what is sent behind a snapshot; less than all that was ever sent. */
  private static final int BUFFER_BATCHES = 500;

  private static final int SHARED_EVERY = 4;
  private static final int VOCABULARY = 2_900; // of the embedded tokenizer

  private final int number;
  private final int capacityBlocks;
  private final WireEvents events = new WireEvents(VOCABULARY);
  private final SerialEngine engine;
  private final EventPublisher publisher;
  private int conversations;
  private long storedBlocks;
  private long batches;

  RecoveryEngine(int number, int capacityBlocks) {
    this.number = number;
    this.capacityBlocks = capacityBlocks;
    engine = new SerialEngine(SerialEngine.fullAttention(), capacityBlocks, events);
    publisher =
        new EventPublisher(
            PublisherOptions.DEFAULT.withBuffer(BUFFER_BATCHES),
            0,
            0,
            true,
            () -> System.currentTimeMillis() / 1e3);
  }

  /** Its event sockets, behind a replica that serves at {@code http}. */
  Ports ports(int http) {
    return new Ports(http, publisher.livePort(), publisher.replayPort());
  }

  /** Whether it evicts as much as it stores. */
  boolean isFull() {
    return engine.heldBlocks() == capacityBlocks;
  }

  /** Blocks that it holds. */
  long memberships() {
    return engine.heldBlocks();
  }

  /** Blocks that it has ever stored. */
  long storedBlocks() {
    return storedBlocks;
  }

  /** Batches that it has sent. */
  long batches() {
    return batches;
  }

  int conversations() {
    return conversations;
  }

  /** The tokens of a conversation that it has served. */
  int[] tokens(int i) {
    long[] names = names(i);
    return events.tokens(block -> names[block], 0, names.length);
  }

  /** Leading tokens of the conversation that it holds. */
  int heldTokens(int i) {
    return engine.reusable(names(i)) * SerialEngine.BLOCK_TOKENS;
  }

  /** Serves one more conversation. */
  void serve() {
    engine.serve(names(conversations++));
    List<CacheEvent> batch = events.take();
    for (CacheEvent event : batch) {
      storedBlocks += event instanceof CacheEvent.Stored stored ? stored.hashes().size() : 0;
    }
    publisher.publish(batch);
    batches += batch.isEmpty() ? 0 : 1;
  }

  private long[] names(int i) {
    long owner = i % SHARED_EVERY == 0 ? 0 : number + 1;
    return new Conversation(owner << 32 | i).names();
  }

  @Override
  public void close() {
    publisher.close();
  }

  /**
   * A prompt whose blocks follow from its number, so that nobody has to keep them; its first blocks
   * are a system prompt's.
   */
  record Conversation(long number) {

    private static final int SYSTEM_BLOCKS = 16;
    private static final int SYSTEM_PROMPTS = 64;
    private static final int LEAST_BLOCKS = 32;
    private static final int MORE_BLOCKS = 480;

    /** The names of its blocks. */
    long[] names() {
      long draw = HashNames.mixed(number);
      long systemPrompt = Long.remainderUnsigned(draw, SYSTEM_PROMPTS);
      long system = HashNames.mixed(-1 - systemPrompt);
      long own = HashNames.mixed(draw);
      long[] names =
          new long[LEAST_BLOCKS + (int) Long.remainderUnsigned(draw >>> 32, MORE_BLOCKS)];
      Arrays.setAll(names, block -> (block < SYSTEM_BLOCKS ? system : own) + block);
      return names;
    }
  }
}
