package dev.warmpath.tokenizer.train;

import org.jspecify.annotations.Nullable;

/** Two neighbouring tokens, by id. */
record Pair(int left, int right) {

  /** Whether this pair goes first when both are as frequent; nothing goes after null. */
  boolean isBefore(@Nullable Pair other) {
    if (other == null) {
      return false;
    }
    return left != other.left ? left < other.left : right < other.right;
  }
}
