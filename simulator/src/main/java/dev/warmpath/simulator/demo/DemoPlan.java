package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.load.ChatLoad;

/**
 * The sizes of the demo.
 *
 * <p>Each engine's cache holds not quite twice its share of the active chats: plenty for a policy
 * that keeps a chat where it is, but when the chats go round, each comes back to an engine only
 * after all engines have served everybody, and its blocks are long gone. What a chat is going to
 * reuse is therefore nearly never evicted between dispatch and scheduling, under either policy.
 *
 * <p>Immutable.
 *
 * @param requests for each policy
 * @param replicas engines
 */
public record DemoPlan(int requests, int replicas) {

  static final String MODEL = "warmpath-demo";

  private static final int BLOCK_TOKENS = 16;
  private static final int STEP_TOKENS = 1024;
  private static final int CHATS_PER_REPLICA = 12;
  private static final int CLIENTS_PER_REPLICA = 3;
  private static final int CACHE_BLOCKS = 512;

  public DemoPlan {
    if (replicas < 2 || replicas > 32) {
      throw new IllegalArgumentException("--replicas must be from 2 to 32");
    }
    if (requests < 1 || requests > 1_000_000) {
      throw new IllegalArgumentException("--requests must be from 1 to 1000000");
    }
  }

  /** One chat more than a multiple of the replicas, so that taking turns spreads every chat. */
  ChatLoad load() {
    int chats = CHATS_PER_REPLICA * replicas + 1;
    return new ChatLoad(MODEL, requests, chats, 10, 6, 40, 60, 24, 20_261_121);
  }

  int clients() {
    return Math.min(requests, CLIENTS_PER_REPLICA * replicas);
  }

  /**
   * A cache between what an engine computes in one round of all chats and in as many rounds as
   * there are replicas: half way, in orders of magnitude.
   */
  EngineConfig engine() {
    int blocks = (int) (CACHE_BLOCKS * Math.sqrt(replicas));
    KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, blocks);
    return new EngineConfig(cache, STEP_TOKENS, 64, cache.maxSequenceTokens(), StepCost.H100X4);
  }
}
