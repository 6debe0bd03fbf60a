package dev.warmpath.lab.index;

import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.lab.bench.Percentiles;

/**
 * Asks queries, takes the time of each and sums the answers up.
 *
 * <p>Single writer.
 */
final class QueryRunner {

  private final Meters meters;
  private final int blockTokens;
  private final PrefixMatches matches = new PrefixMatches();
  private final long[] nanos;
  private int asked;
  private long scores;
  private long best;
  private long nonzero;

  /** Keeps the compiler from leaving out the look at a prompt. */
  @SuppressWarnings("unused")
  private long begins;

  /** For at most {@code queries} queries. */
  QueryRunner(Meters meters, int blockTokens, int queries) {
    this.meters = meters;
    this.blockTokens = blockTokens;
    nanos = new long[queries];
  }

  /**
   * Asks and takes the time; the answer is summed up outside of it. A router asks about a prompt
   * whose chain it has just made, so where the chain begins is looked at before.
   */
  void ask(KvIndex index, BlockChain prompt) {
    begins ^= prompt.blocks() == 0 ? prompt.space().rootKey() : prompt.localHash(0);
    long begin = meters.nanos();
    index.match(prompt, matches);
    nanos[asked++] = meters.nanos() - begin;
    sumUp();
  }

  Percentiles percentiles() {
    return Percentiles.of(nanos, asked);
  }

  Sums sums() {
    return new Sums(scores, best, nonzero);
  }

  private void sumUp() {
    int longest = 0;
    for (int slot = 0; slot < matches.slots(); slot++) {
      int blocks = matches.tokens(slot, StorageTier.GPU) / blockTokens;
      scores += blocks;
      nonzero += blocks > 0 ? 1 : 0;
      longest = Math.max(longest, blocks);
    }
    best += longest;
  }
}
