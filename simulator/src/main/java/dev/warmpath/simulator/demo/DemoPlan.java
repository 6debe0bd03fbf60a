package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.cache.KvCacheConfig;
import dev.warmpath.simulator.load.ChatLoad;

/**
 * The sizes of the demo.
 *
 * <p>Each engine's cache holds about one and a half times its share of the active chats: enough for
 * a policy that keeps a chat where it is. When the chats go round, an engine computes a whole share
 * anew in each round, and most chats come back to it only after as many rounds as there are
 * engines. So what a chat is going to reuse is either safe or long gone, and is hardly ever evicted
 * between dispatch and scheduling, where no router could know.
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
  private static final int CACHE_BLOCKS = 832;

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

  EngineConfig engine() {
    KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, CACHE_BLOCKS);
    return new EngineConfig(cache, STEP_TOKENS, 64, cache.maxSequenceTokens(), StepCost.H100X4);
  }
}
