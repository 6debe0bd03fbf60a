package dev.warmpath.router.routing;

/**
 * The shortest predicted time to the first token: {@code queue + T(c, n)} in milliseconds, T being
 * the {@linkplain Candidates#prefillMillis prefill time} that was learned for each engine.
 *
 * <p>Source: Mooncake's Conductor (2024), without the transfer of caches between engines and
 * without its rejection of requests over a time limit; {@code queue.timeout-ms} bounds the wait
 * here.
 *
 * <p>Not where caches are small: a miss costs it no more than its own prefill, so prompts scatter
 * and evict each other.
 *
 * <p>Thread-safe.
 */
final class ConductorPolicy implements RankingPolicy {

  @Override
  public String name() {
    return "conductor";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    return new FirstToken(request, candidates);
  }

  private record FirstToken(RoutingRequest request, Candidates candidates) implements Ranking {

    @Override
    public double cost(int row) {
      return candidates.prefillBacklogMillis(row) + candidates.prefillMillis(request, row);
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("backlog_millis", candidates.prefillBacklogMillis(row)),
          Score.term("prefill_millis", candidates.prefillMillis(request, row)));
    }

    @Override
    public String reason(int winner) {
      return candidates.reason(request, winner);
    }
  }
}
