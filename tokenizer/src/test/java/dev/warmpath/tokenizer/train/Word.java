package dev.warmpath.tokenizer.train;

import java.util.Map;

/**
 * A word of the text as the tokens it is made of so far, and how often it occurs.
 *
 * <p>Confined to the thread that trains.
 */
final class Word {

  private final int[] ids;
  private final int count;
  private int length;

  Word(int[] ids, int count) {
    this.ids = ids;
    this.count = count;
    this.length = ids.length;
  }

  void countPairs(Map<Pair, Integer> counts) {
    for (int i = 0; i + 1 < length; i++) {
      counts.merge(new Pair(ids[i], ids[i + 1]), count, Integer::sum);
    }
  }

  /** Puts {@code merged} in the place of each {@code pair}, from the left. */
  void merge(Pair pair, int merged) {
    int to = 0;
    for (int from = 0; from < length; from++) {
      boolean match =
          from + 1 < length && ids[from] == pair.left() && ids[from + 1] == pair.right();
      ids[to++] = match ? merged : ids[from];
      if (match) {
        from++;
      }
    }
    length = to;
  }
}
