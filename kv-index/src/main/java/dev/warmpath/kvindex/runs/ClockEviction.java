package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.RunHeaders.TOUCHED;

/**
 * Chooses what to evict: leaf runs that nobody stored to or asked for since the last time round. A
 * clock, whose hand takes back the mark of each run that it passes.
 *
 * <p>Single writer.
 */
final class ClockEviction {

  /** A search for the runs of one engine ends after so many. */
  private static final int STEPS = 1 << 12;

  private final Runs runs;
  private final Holdings holdings;
  private final Shelves shelves;
  private int hand;
  private int ownHand;

  public ClockEviction(Runs runs, Holdings holdings, Shelves shelves) {
    this.runs = runs;
    this.holdings = holdings;
    this.shelves = shelves;
  }

  /** A held leaf, or 0 when there is none at all. */
  public int victim() {
    int bound = runs.headers.bound();
    for (int steps = 0; steps < 2 * bound; steps++) {
      hand = hand + 1 < bound ? hand + 1 : 1;
      boolean cold = isCold(hand);
      if (cold && isLeaf(hand)) {
        return hand;
      }
    }
    return 0;
  }

  /** A leaf that the engine in this slot holds and nobody else, or 0 when none is found soon. */
  public int victimOf(int slot) {
    int bound = runs.headers.bound();
    for (int steps = Math.min(STEPS, 2 * bound); steps > 0; steps--) {
      ownHand = ownHand + 1 < bound ? ownHand + 1 : 1;
      if (isLeaf(ownHand) && isOnly(ownHand, slot) && isCold(ownHand)) {
        return ownHand;
      }
    }
    return 0;
  }

  private boolean isLeaf(int run) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    return RunHeaders.kind(h[at + SHAPE]) == RunHeaders.NAMES
        && h[at + CHILDREN] == 0
        && holdings.count(run) > 0;
  }

  private boolean isOnly(int run, int slot) {
    for (int i = holdings.count(run) - 1; i >= 0; i--) {
      if (shelves.get(holdings.shelfOf(run, i)).slot != slot) {
        return false;
      }
    }
    return true;
  }

  /** Whether the run has no mark; takes it back if it has. */
  private boolean isCold(int run) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run) + TOUCHED;
    boolean cold = h[at] == 0;
    h[at] = 0;
    return cold;
  }
}
