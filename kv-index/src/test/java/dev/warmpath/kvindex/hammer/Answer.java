package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import java.util.Arrays;
import java.util.Collection;

/**
 * What an index may say to a question: for each engine (or slot) and local tier, how many tokens at
 * least and at most.
 *
 * <p>Immutable.
 */
record Answer(int[] least, int[] most) {

  private static final int TIERS = StorageTier.values().length;

  static Answer exactly(int[] tokens) {
    return new Answer(tokens, tokens);
  }

  /** The tokens of slots {@code 0 … slots − 1}, and of all others that are answered for. */
  static int[] seen(PrefixMatches matches, int slots) {
    int[] tokens = new int[Math.max(slots, matches.slots()) * TIERS];
    for (int i = 0; i < tokens.length; i++) {
      tokens[i] = matches.tokens(i / TIERS, StorageTier.values()[i % TIERS]);
    }
    return tokens;
  }

  /** While one engine is on its way from this answer to another one. */
  Answer onTheWay(Answer there, int engine) {
    int[] low = least.clone();
    int[] high = most.clone();
    for (int i = engine * TIERS; i < (engine + 1) * TIERS; i++) {
      low[i] = Math.min(least[i], there.least[i]);
      high[i] = Math.max(most[i], there.most[i]);
    }
    return new Answer(low, high);
  }

  /** By slot instead of by engine; an engine that reuses nothing need not have one. */
  Answer bySlot(int[] slots) {
    int[] low = new int[least.length];
    int[] high = new int[most.length];
    for (int i = 0; i < most.length; i++) {
      if (most[i] != 0) {
        low[slots[i / TIERS] * TIERS + i % TIERS] = least[i];
        high[slots[i / TIERS] * TIERS + i % TIERS] = most[i];
      }
    }
    return new Answer(low, high);
  }

  /** Whether all that was seen is right. */
  boolean allows(int[] seen) {
    return allows(seen, 0, seen.length);
  }

  /** Whether each slot's tokens are right in one of the answers. */
  static boolean eachAllowed(int[] seen, Collection<Answer> answers) {
    for (int i = 0; i < seen.length; i += TIERS) {
      int from = i;
      if (answers.stream().noneMatch(answer -> answer.allows(seen, from, from + TIERS))) {
        return false;
      }
    }
    return true;
  }

  boolean isSame(Answer other) {
    return Arrays.equals(least, other.least) && Arrays.equals(most, other.most);
  }

  @Override
  public String toString() {
    String text = Arrays.toString(least);
    return Arrays.equals(least, most) ? text : text + " to " + Arrays.toString(most);
  }

  private boolean allows(int[] seen, int from, int to) {
    for (int i = from; i < to; i++) {
      boolean known = i < most.length;
      if (seen[i] < (known ? least[i] : 0) || seen[i] > (known ? most[i] : 0)) {
        return false;
      }
    }
    return true;
  }
}
