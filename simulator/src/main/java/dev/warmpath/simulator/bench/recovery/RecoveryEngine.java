package dev.warmpath.simulator.bench.recovery;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.simulator.live.event.BlockHash;
import dev.warmpath.simulator.live.event.CacheEvent;
import dev.warmpath.simulator.live.publish.EventPublisher;
import dev.warmpath.simulator.live.publish.PublisherOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * An engine reduced to its events: it holds conversations, a quarter of which all engines hold, and
 * knows how much of each.
 *
 * <p>Confined to the thread of the bench.
 */
final class RecoveryEngine implements AutoCloseable {

  static final int BATCH_BLOCKS = 64;

  /** Enough for what is sent behind a snapshot; less than all that was ever sent. */
  private static final int BUFFER_BATCHES = 2_000;

  private static final int SHARED_EVERY = 4;
  private static final CacheGroup GROUP =
      new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, Conversation.BLOCK_TOKENS, 0);

  private final int number;
  private final EventPublisher publisher;
  private final List<Conversation> conversations = new ArrayList<>();
  private final List<Integer> held = new ArrayList<>();
  private final Set<Integer> systemPrompts = new HashSet<>();
  private long memberships;
  private long batches;
  private int shrunk;

  RecoveryEngine(int number) {
    this.number = number;
    PublisherOptions options =
        new PublisherOptions(
            PublisherOptions.DEFAULT.form(), false, "", BUFFER_BATCHES, 100_000, 1_000);
    publisher = new EventPublisher(options, 0, 0, true, () -> System.currentTimeMillis() / 1e3);
  }

  int livePort() {
    return publisher.livePort();
  }

  int replayPort() {
    return publisher.replayPort();
  }

  /** Blocks that it holds. */
  long memberships() {
    return memberships;
  }

  /** Batches that it has sent. */
  long batches() {
    return batches;
  }

  int conversations() {
    return conversations.size();
  }

  Conversation conversation(int i) {
    return conversations.get(i);
  }

  /** Leading blocks of the conversation that it holds. */
  int held(int i) {
    return held.get(i);
  }

  /** Stores one more conversation. */
  void store() {
    int next = conversations.size();
    long owner = next % SHARED_EVERY == 0 ? 0 : number + 1;
    Conversation conversation = new Conversation(owner << 32 | next);
    boolean headKnown = !systemPrompts.add(conversation.systemPrompt());
    int begin = headKnown ? Conversation.SYSTEM_BLOCKS : 0;
    for (int end = begin; end < conversation.blocks(); begin = end) {
      end = Math.min(begin + BATCH_BLOCKS, conversation.blocks());
      publish(conversation, begin, end);
    }
    conversations.add(conversation);
    held.add(conversation.blocks());
  }

  /** Evicts the last blocks of the oldest conversation that is still whole. */
  void shrink() {
    Conversation oldest = conversations.get(shrunk);
    int keeps = Conversation.SYSTEM_BLOCKS + (oldest.blocks() - Conversation.SYSTEM_BLOCKS) / 2;
    List<CacheEvent> events = new ArrayList<>();
    for (int block = oldest.blocks() - 1; block >= keeps; block--) {
      events.add(new CacheEvent.Removed(0, oldest.hash(block)));
    }
    send(events);
    memberships -= events.size();
    held.set(shrunk++, keeps);
  }

  private void publish(Conversation conversation, int begin, int end) {
    List<BlockHash> hashes = new ArrayList<>();
    for (int block = begin; block < end; block++) {
      hashes.add(conversation.hash(block));
    }
    send(
        List.of(
            new CacheEvent.Stored(
                GROUP,
                begin == 0 ? null : conversation.hash(begin - 1),
                hashes,
                conversation.tokens(begin, end),
                Collections.nCopies(hashes.size(), List.of()),
                null)));
    memberships += hashes.size();
  }

  private void send(List<CacheEvent> events) {
    publisher.publish(events);
    batches++;
  }

  @Override
  public void close() {
    publisher.close();
  }
}
