package dev.warmpath.simulator.bench.generate;

import dev.warmpath.simulator.bench.corpus.CorpusSource;
import java.util.List;

/**
 * The corpora that can be made here.
 *
 * <p>Immutable.
 */
public final class Corpora {

  private Corpora() {}

  /** A small conversation workload on 16 engines. */
  public static CorpusSource small() {
    return new GeneratedCorpus(
        "small synthetic chats", new ChatRequests(4_000, 64, 200, 1), FleetPlan.of(16, 4_096));
  }

  /** What a JVM is warmed up with: other chats, other sizes, single removals, holes. */
  public static List<CorpusSource> warmUp() {
    ChatRequests chats = new ChatRequests(1_500, 40, 100, 99);
    FleetPlan plan = FleetPlan.of(12, 2_048);
    return List.of(
        new GeneratedCorpus("warm-up", chats, plan),
        new GeneratedCorpus("warm-up, single removals", chats, plan.withSingleRemovals()),
        new GeneratedCorpus("warm-up, holes", chats, plan.withHoles(0.02)));
  }
}
