package dev.warmpath.kvindex.workload;

/**
 * Columns of blocks as text, with a range for hashes that follow each other.
 *
 * <p>Immutable.
 */
final class Columns {

  private Columns() {}

  /** Like {@code h4..h9 h2}. */
  static String text(long[] hashes) {
    StringBuilder text = new StringBuilder();
    for (int from = 0; from < hashes.length; ) {
      int to = endOfRange(hashes, from);
      text.append(' ').append(range(hashes, from, to));
      from = to;
    }
    return text.substring(Math.min(1, text.length()));
  }

  /** Like {@code h4..h6=aab h2=a}: engine hashes and local hashes. */
  static String text(long[] hashes, long[] localHashes) {
    StringBuilder text = new StringBuilder();
    for (int from = 0; from < hashes.length; ) {
      int to = endOfRange(hashes, from);
      text.append(' ').append(range(hashes, from, to)).append('=');
      for (int i = from; i < to; i++) {
        text.append(Forest.text(localHashes[i]));
      }
      from = to;
    }
    return text.substring(Math.min(1, text.length()));
  }

  private static String range(long[] hashes, int from, int to) {
    String first = Dialect.text(hashes[from]);
    return to - from == 1 ? first : first + ".." + Dialect.text(hashes[to - 1]);
  }

  private static int endOfRange(long[] hashes, int from) {
    int to = from + 1;
    while (to < hashes.length && Dialect.follows(hashes, to, from + 1)) {
      to++;
    }
    return to;
  }
}
