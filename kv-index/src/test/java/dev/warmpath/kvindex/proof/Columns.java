package dev.warmpath.kvindex.proof;

/**
 * Columns of blocks as text, with a range for hashes that follow each other.
 *
 * <p>Immutable.
 */
final class Columns {

  private Columns() {}

  /** Like {@code h4..h9 h2}. */
  static String text(long[] hashes) {
    return text(hashes, new long[hashes.length]).replace("=0", "");
  }

  /** Like {@code h4..h9=1 h2=0}: engine hash and local hash. */
  static String text(long[] hashes, long[] localHashes) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < hashes.length; ) {
      int end = i + 1;
      while (end < hashes.length
          && localHashes[end] == localHashes[i]
          && hashes[end] - hashes[end - 1] == hashes[i + 1] - hashes[i]
          && Math.abs(hashes[end] - hashes[end - 1]) == 1) {
        end++;
      }
      text.append(i == 0 ? "h" : " h").append(hashes[i]);
      text.append(end > i + 1 ? "..h" + hashes[end - 1] : "").append('=').append(localHashes[i]);
      i = end;
    }
    return text.toString();
  }
}
