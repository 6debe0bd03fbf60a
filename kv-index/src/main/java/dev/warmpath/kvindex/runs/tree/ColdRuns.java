package dev.warmpath.kvindex.runs.tree;

import static dev.warmpath.kvindex.runs.memory.RunHeaders.CHILDREN;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.SHAPE;
import static dev.warmpath.kvindex.runs.memory.RunHeaders.TOUCHED;

import dev.warmpath.kvindex.runs.memory.RunHeaders;

/**
 * Finds leaf runs that nobody stored to or asked for since the last time round: a clock whose hand
 * takes back the mark of each run that it passes.
 *
 * <p>Single writer.
 */
public final class ColdRuns {

  private final Runs runs;
  private final Holdings holdings;
  private int hand;

  public ColdRuns(Runs runs, Holdings holdings) {
    this.runs = runs;
    this.holdings = holdings;
  }

  /** A held leaf, or 0 when there is none at all. */
  public int next() {
    int bound = runs.headers.bound();
    for (int steps = 0; steps < 2 * bound; steps++) {
      hand = hand + 1 < bound ? hand + 1 : 1;
      int[] h = runs.headers.segment(hand);
      int at = RunHeaders.at(hand);
      boolean leaf =
          RunHeaders.kind(h[at + SHAPE]) == RunHeaders.NAMES
              && h[at + CHILDREN] == 0
              && holdings.count(hand) > 0;
      if (leaf && h[at + TOUCHED] == 0) {
        return hand;
      }
      h[at + TOUCHED] = 0;
    }
    return 0;
  }
}
