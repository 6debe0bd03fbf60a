package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.load.ChatLoad;

/**
 * The sizes of the demo.
 *
 * <p>Each engine's cache holds about twice its share of the active chats, and so about half of all
 * of them for four replicas: enough for whoever keeps chats where they are, too little for whoever
 * spreads them. Immutable.
 *
 * @param requests for each policy
 * @param replicas engines
 */
public record DemoPlan(int requests, int replicas) {

  static final String MODEL = "warmpath-demo";

  private static final int BLOCK_TOKENS = 16;
  private static final int STEP_TOKENS = 2048;
  private static final int CHATS_PER_REPLICA = 10;
  private static final int CLIENTS_PER_REPLICA = 3;
  private static final int CACHE_BLOCKS = 1024;

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
    return new ChatLoad(MODEL, requests, chats, 8, 6, 120, 70, 32, 20_261_121);
  }

  int clients() {
    return Math.min(requests, CLIENTS_PER_REPLICA * replicas);
  }

  EngineConfig engine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, CACHE_BLOCKS);
    return new EngineConfig(cache, STEP_TOKENS, 64, cache.maxSequenceTokens(), StepCost.H100X4);
  }
}
