package dev.warmpath.router.routing;

import dev.warmpath.router.routing.ConsistentHashPolicy.HashRing;
import org.jspecify.annotations.Nullable;

/**
 * The session's last engine while it costs at most {@code stay-factor} (2) times what the cheapest
 * candidate does; else, and without a session, {@link LmetricPolicy}, whose costs it compares.
 *
 * <p>Source: our own hybrid of sticky sessions and LMetric. Remembers the engines of {@value
 * #SESSIONS} sessions, and goes without those routed longest ago; of a session's name it keeps a
 * hash of 64 bits.
 *
 * <p>Not where clients name no sessions.
 *
 * <p>Thread-safe.
 */
final class StickyPolicy implements RankingPolicy {

  /** The default factor. */
  public static final double DEFAULT_STAY_FACTOR = 2;

  static final int SESSIONS = 1 << 16;

  private final double stayFactor;
  private final LmetricPolicy lmetric = new LmetricPolicy();
  private final RecentMap<Long, Integer> engines = new RecentMap<>(SESSIONS);

  /**
   * @param stayFactor how many times the least cost a session's engine may cost, from 1
   */
  public StickyPolicy(double stayFactor) {
    this.stayFactor = Options.require("stay-factor", stayFactor, 1, 1e6);
  }

  @Override
  public String name() {
    return "sticky";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    String session = request.sessionKey();
    Integer engine = session == null ? null : engines.get(HashRing.hash(session));
    double least = Double.POSITIVE_INFINITY;
    int home = -1;
    for (int row = 0; row < candidates.count(); row++) {
      least = Math.min(least, LmetricPolicy.cost(request, candidates, row));
      home = isHome(candidates.number(row), engine) ? row : home;
    }
    return home >= 0 && LmetricPolicy.cost(request, candidates, home) <= stayFactor * least
        ? new Home(request, candidates, home)
        : lmetric.rank(request, candidates);
  }

  private static boolean isHome(int number, @Nullable Integer engine) {
    return engine != null && engine == number;
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    long[] note = lmetric.committed(request, candidates, winner);
    String session = request.sessionKey();
    if (session == null) {
      return note;
    }
    long hash = HashRing.hash(session);
    engines.put(hash, candidates.number(winner));
    return new long[] {note[0], hash};
  }

  @Override
  public void remember(long[] note, int engine) {
    lmetric.remember(note, engine);
    if (note.length > 1) {
      engines.put(note[1], engine);
    }
  }

  @Override
  public double memoryShare() {
    return engines.share();
  }

  private record Home(RoutingRequest request, Candidates candidates, int home) implements Ranking {

    @Override
    public double cost(int row) {
      return LmetricPolicy.cost(request, candidates, row) + ruledOut(row);
    }

    private double ruledOut(int row) {
      return row == home ? 0 : RULED_OUT;
    }

    @Override
    public Score score(int row) {
      return Score.of(
          Score.term("tokens_by_requests", LmetricPolicy.cost(request, candidates, row)),
          Score.term("other_than_session", ruledOut(row)));
    }

    @Override
    public String reason(int winner) {
      return "session";
    }
  }
}
