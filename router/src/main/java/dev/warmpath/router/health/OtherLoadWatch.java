package dev.warmpath.router.health;

import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.ReportedLoad;

/**
 * Keeps what the metrics of one replica's engines show of their load, and how much of it is for
 * others than this router: what is beyond the router's own requests.
 *
 * <p>A page and the router's count are never of the same moment. So the own requests are taken to
 * be as many as there were before or after the page was read, whichever is more; and only what two
 * pages in a row show is believed. What was read too many intervals ago is not.
 *
 * <p>Confined to its event loop.
 */
final class OtherLoadWatch {

  /** Reads that may fail before the last page counts no more. */
  static final int MISSES = 2;

  private final Replica replica;
  private final int[] ownBefore;
  private final OtherLoad[] last;
  private int misses;

  OtherLoadWatch(Replica replica) {
    this.replica = replica;
    this.ownBefore = new int[replica.ranks()];
    this.last = new OtherLoad[replica.ranks()];
    forget();
  }

  /** The metrics are asked for now. */
  void metricsRequested() {
    for (int rank = 0; rank < ownBefore.length; rank++) {
      ownBefore[rank] = replica.requests(rank);
    }
  }

  /**
   * They say this.
   *
   * @param countsOthers whether load of others matters
   */
  void readLoad(MetricsPage metrics, boolean countsOthers) {
    misses = 0;
    for (int rank = 0; rank < last.length; rank++) {
      ReportedLoad said =
          last.length == 1 ? metrics.all() : metrics.rank(replica.firstRank() + rank);
      replica.reportedLoad(rank, said);
      int own = Math.max(ownBefore[rank], replica.requests(rank));
      OtherLoad now = countsOthers ? others(said, own) : OtherLoad.NONE;
      replica.otherLoad(rank, lesser(now, last[rank]));
      last[rank] = now;
    }
  }

  /** They could not be read. */
  void missed() {
    if (++misses > MISSES) {
      forget();
    }
  }

  /** Knows nothing any more. */
  void forget() {
    for (int rank = 0; rank < last.length; rank++) {
      last[rank] = OtherLoad.NONE;
      replica.otherLoad(rank, OtherLoad.NONE);
      replica.reportedLoad(rank, ReportedLoad.UNKNOWN);
    }
  }

  /** The own requests are taken to be those that run. */
  private static OtherLoad others(ReportedLoad said, int own) {
    int running = count(said.running());
    int waiting = count(said.waiting());
    int others = Math.max(0, running + waiting - own);
    int waitingOthers = Math.min(others, waiting);
    double kvUse = said.kvUse() > 0 ? Math.min(1, said.kvUse()) : 0;
    return new OtherLoad(others - waitingOthers, waitingOthers, others == 0 ? 0 : kvUse);
  }

  private static int count(double said) {
    return Double.isNaN(said) ? 0 : (int) Math.min(said, 1e6);
  }

  private static OtherLoad lesser(OtherLoad one, OtherLoad other) {
    return one.requests() <= other.requests() ? one : other;
  }
}
