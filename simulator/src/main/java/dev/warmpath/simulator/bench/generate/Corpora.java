package dev.warmpath.simulator.bench.generate;

import dev.warmpath.simulator.bench.corpus.CorpusSource;
import dev.warmpath.simulator.bench.generate.fleet.Ballast;
import dev.warmpath.simulator.bench.generate.fleet.FleetPlan;
import dev.warmpath.simulator.bench.generate.fleet.GeneratedCorpus;
import dev.warmpath.simulator.bench.generate.fleet.HybridCorpus;
import dev.warmpath.simulator.bench.generate.fleet.HybridPlan;
import dev.warmpath.simulator.bench.generate.requests.ChatRequests;
import dev.warmpath.simulator.bench.generate.requests.MooncakeTrace;
import dev.warmpath.simulator.bench.generate.requests.RequestSource;
import dev.warmpath.simulator.bench.generate.requests.SiblingBursts;
import java.util.List;

/**
 * The corpora that can be made here.
 *
 * <p>Immutable.
 */
public final class Corpora {

  private static final int TRACE_BLOCK_TOKENS = 128;
  private static final int BALLAST_FAMILIES = 16_000_000 / Ballast.DEPTH;
  private static final double HOLES = 0.02;

  private Corpora() {}

  /** A small conversation workload on 16 engines. */
  public static CorpusSource small() {
    ChatRequests chats = new ChatRequests(4_000, 64, 200, 1);
    return new GeneratedCorpus("small synthetic chats", chats, FleetPlan.of(16, 4_096));
  }

  /** What a JVM is warmed up with: other chats, other sizes, single removals, holes. */
  public static List<CorpusSource> warmUp() {
    ChatRequests chats = new ChatRequests(1_500, 40, 100, 99);
    FleetPlan plan = FleetPlan.of(12, 2_048);
    return List.of(
        new GeneratedCorpus("warm-up", chats, plan),
        new GeneratedCorpus("warm-up, single removals", chats, plan.withSingleRemovals()),
        new GeneratedCorpus("warm-up, holes", chats, plan.withHoles(HOLES)));
  }

  /** The corpus of a cell. */
  public static CorpusSource cell(Cell cell, CellOptions options) {
    RequestSource chats = chats(options, cell == Cell.B ? 40_000 : 12_000);
    FleetPlan plan = FleetPlan.of(options.enginesOr(16), 16_384);
    String name = "cell " + cell;
    return switch (cell) {
      case B -> largeFleet(options.enginesOr(128), chats);
      case C -> new GeneratedCorpus(name, chats, plan, new Ballast(BALLAST_FAMILIES));
      case D -> new GeneratedCorpus(name, chats, plan.withOwnHashes());
      case E -> new GeneratedCorpus(name, chats, plan.withHoles(HOLES));
      case F -> new GeneratedCorpus(name, bursts(options), plan);
      case G -> new HybridCorpus(name, chats, new HybridPlan(options.enginesOr(16), 16_384, 64));
    };
  }

  private static CorpusSource largeFleet(int engines, RequestSource chats) {
    int capacityBlocks = Math.max(1_024, (1 << 19) / engines);
    return new GeneratedCorpus(
        "cell B, " + engines + " engines", chats, FleetPlan.of(engines, capacityBlocks));
  }

  private static RequestSource chats(CellOptions options, int requests) {
    if (options.trace() != null) {
      int limit = options.requestsOr(Integer.MAX_VALUE);
      return new MooncakeTrace(options.trace(), TRACE_BLOCK_TOKENS, limit);
    }
    int limit = options.requestsOr(requests);
    return new ChatRequests(limit, 64, Math.max(1, limit / 20), 1);
  }

  private static RequestSource bursts(CellOptions options) {
    return new SiblingBursts(options.requestsOr(12_000), 1);
  }
}
