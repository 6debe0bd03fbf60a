package dev.warmpath.simulator.demo;

import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngineOptions;

/**
 * The sizes of the demo.
 *
 * <p>Each engine's cache holds about half more than its share of the active chats: enough for a
 * policy that keeps a chat where it is. When the chats go round, an engine computes a whole share
 * anew in each round, and most chats come back to it only after as many rounds as there are
 * engines. The tenants take turns on each engine, so that their prompts are never old. So what a
 * chat is going to reuse is either safe or long gone, and is hardly ever evicted between dispatch
 * and scheduling, where no router could know.
 *
 * @param requests for each policy
 * @param replicas engines
 * @param speed how many times faster than their time model they are
 */
public record DemoPlan(int requests, int replicas, double speed) {

  static final String MODEL = "warmpath-demo";

  private static final int BLOCK_TOKENS = 16;
  private static final int STEP_TOKENS = 1024;
  private static final int MOST_CHATS = 12;
  private static final int FEWEST_CHATS = 6;
  private static final int REQUESTS_PER_CHAT = 7;
  private static final int CHATS_PER_CLIENT = 6;
  private static final int CACHE_BLOCKS_PER_CHAT = 72;
  private static final int TENANTS = 5;
  private static final long SEED = 20_261_121;
  private static final int GENTLE_REQUESTS = 5_000;

  public DemoPlan {
    if (replicas < 2 || replicas > 32) {
      throw new IllegalArgumentException("--replicas must be from 2 to 32");
    }
    if (requests < 1 || requests > 1_000_000) {
      throw new IllegalArgumentException("--requests must be from 1 to 1000000");
    }
  }

  /** Engines as fast as their time model. */
  public DemoPlan(int requests, int replicas) {
    this(requests, replicas, 1);
  }

  ChatLoad load() {
    return load(requests, SEED);
  }

  /** What goes on while people look; {@code round} counts from 1. */
  ChatLoad gentleLoad(int round) {
    return load(GENTLE_REQUESTS, SEED + round);
  }

  /** One chat more than a multiple of the replicas, so that taking turns spreads every chat. */
  private ChatLoad load(int total, long seed) {
    int chats = chatsPerReplica() * replicas + 1;
    return new ChatLoad(MODEL, total, chats, 10, TENANTS, 40, 60, 24, seed);
  }

  int clients() {
    return Math.min(requests, chatsPerReplica() / CHATS_PER_CLIENT * replicas);
  }

  LiveEngineOptions engine() {
    int blocks = CACHE_BLOCKS_PER_CHAT * chatsPerReplica();
    KvCacheConfig cache = KvCacheConfig.fullAttention(BLOCK_TOKENS, blocks);
    EngineConfig engine =
        new EngineConfig(cache, STEP_TOKENS, 64, cache.maxSequenceTokens(), StepCost.H100X4);
    LiveEngineOptions options = LiveEngineOptions.of(MODEL, engine);
    return options.pace(speed, options.answerTokens());
  }

  /** Active chats for each replica: few enough for a short run to come back to them. */
  private int chatsPerReplica() {
    int affordable = requests / (REQUESTS_PER_CHAT * replicas);
    return Math.max(FEWEST_CHATS, Math.min(MOST_CHATS, affordable));
  }
}
