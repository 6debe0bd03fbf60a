package dev.warmpath.simulator.demo;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.ForwardingIndex;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.EngineChain;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;

/**
 * Notes what is left of the prompts under way on an engine that evicts blocks.
 *
 * <p>Stands before the router's index: an engine may evict a block and store it again within one
 * batch, which no look at the index from time to time would show.
 *
 * <p>Thread-safe.
 */
public final class EvictionWatch implements UnaryOperator<KvIndex> {

  private final Set<Prompt> underWay = ConcurrentHashMap.newKeySet();

  /** The index, watched from now on. */
  @Override
  public KvIndex apply(KvIndex index) {
    return new Watched(index);
  }

  /** Watches a prompt on all engines that may get it, until it is closed. */
  Prompt watch(List<EngineChain> chains) {
    Prompt prompt = new Prompt(chains);
    underWay.add(prompt);
    return prompt;
  }

  /** A prompt under way. Thread-safe. */
  final class Prompt implements AutoCloseable {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition evicted = lock.newCondition();
    private final List<Holding> holdings = new ArrayList<>();

    private Prompt(List<EngineChain> chains) {
      for (EngineChain engine : chains) {
        BlockChain chain = engine.chain();
        if (chain != null) {
          holdings.add(new Holding(engine.replica(), engine.view(), chain));
        }
      }
    }

    /**
     * Whether evictions left the replica with at most {@code tokens} of the prompt; waits for its
     * events up to {@code limit}. Any rank counts, since answers do not name theirs.
     */
    boolean fellTo(String replica, int tokens, Duration limit) throws InterruptedException {
      long leftNanos = limit.toNanos();
      lock.lock();
      try {
        while (!hasFallenTo(replica, tokens) && leftNanos > 0) {
          leftNanos = evicted.awaitNanos(leftNanos);
        }
        return hasFallenTo(replica, tokens);
      } finally {
        lock.unlock();
      }
    }

    private boolean hasFallenTo(String replica, int tokens) {
      return holdings.stream()
          .anyMatch(held -> held.replica.equals(replica) && held.leastTokens <= tokens);
    }

    private void beforeEviction(int slot, KvIndex index) {
      for (Holding held : holdings) {
        if (held.view.slot() == slot) {
          held.tokens = held.tokens(index);
        }
      }
    }

    private void afterEviction(int slot, KvIndex index) {
      lock.lock();
      try {
        for (Holding held : holdings) {
          int tokens = held.view.slot() == slot ? held.tokens(index) : held.tokens;
          if (tokens < held.tokens) {
            held.leastTokens = Math.min(held.leastTokens, tokens);
            evicted.signalAll();
          }
        }
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void close() {
      underWay.remove(this);
    }
  }

  /** What one engine holds of a prompt. Confined to the writer, but for {@code leastTokens}. */
  private static final class Holding {

    private final String replica;
    private final EngineView view;
    private final BlockChain chain;
    private final PrefixMatches matches = new PrefixMatches();
    private int tokens;

    /** What an eviction left, at least; guarded by the prompt's lock. */
    private int leastTokens = Integer.MAX_VALUE;

    Holding(String replica, EngineView view, BlockChain chain) {
      this.replica = replica;
      this.view = view;
      this.chain = chain;
    }

    int tokens(KvIndex index) {
      index.match(chain, matches);
      int device = matches.tokens(view.slot(), StorageTier.GPU);
      return view.slowTier().reused(device, matches.tokens(view.slot()));
    }
  }

  private final class Watched extends ForwardingIndex {

    Watched(KvIndex index) {
      super(index);
    }

    @Override
    public void removed(int slot, RemovedBlocks blocks) {
      List<Prompt> watched = List.copyOf(underWay);
      watched.forEach(prompt -> prompt.beforeEviction(slot, index));
      super.removed(slot, blocks);
      watched.forEach(prompt -> prompt.afterEviction(slot, index));
    }

    @Override
    public void cleared(int slot) {
      List<Prompt> watched = List.copyOf(underWay);
      watched.forEach(prompt -> prompt.beforeEviction(slot, index));
      super.cleared(slot);
      watched.forEach(prompt -> prompt.afterEviction(slot, index));
    }
  }
}
