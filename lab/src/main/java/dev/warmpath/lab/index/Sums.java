package dev.warmpath.lab.index;

/**
 * Three sums over the answers to all queries, by which two indexes can be compared.
 *
 * @param scores of the matched blocks of each worker
 * @param best of the matched blocks of the best worker of each query
 * @param nonzero how many times a worker matched at least one block
 */
record Sums(long scores, long best, long nonzero) {

  /** No answers yet. */
  static final Sums NONE = new Sums(0, 0, 0);

  /** Both together. */
  Sums plus(Sums other) {
    return new Sums(scores + other.scores, best + other.best, nonzero + other.nonzero);
  }

  /** The sums of one answer: the matched blocks of each worker. */
  static Sums of(int[] matchedBlocks) {
    long scores = 0;
    int best = 0;
    int nonzero = 0;
    for (int blocks : matchedBlocks) {
      scores += blocks;
      best = Math.max(best, blocks);
      nonzero += blocks > 0 ? 1 : 0;
    }
    return new Sums(scores, best, nonzero);
  }
}
