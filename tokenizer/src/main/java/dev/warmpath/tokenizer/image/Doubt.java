package dev.warmpath.tokenizer.image;

/**
 * Something that was wrong, and is tried again ever more seldom: after the nth time 2^n times are
 * left out, up to 1,024. What is right again takes one off n. Until these are over, no more is said
 * by what was wrong: it is of those that were under way.
 *
 * <p>Confined to its owner's lock.
 */
final class Doubt {

  private static final int MOST = 10;

  private int level;
  private int leftOut;

  /** Whether this is news. */
  boolean wrong() {
    if (leftOut > 0) {
      return false;
    }
    level = Math.min(MOST, level + 1);
    leftOut = 1 << level;
    return true;
  }

  void right() {
    level = Math.max(0, level - 1);
  }

  /** Whether it is to be tried now; asked once for each time. */
  boolean isOver() {
    if (leftOut == 0) {
      return true;
    }
    leftOut--;
    return false;
  }
}
