package dev.warmpath.tokenizer.encode;

import java.util.ArrayList;
import java.util.List;

/**
 * Special tokens within a text: each is written as two high surrogates, which no well-formed text
 * holds. So text that only looks like a special token stays text, and one string holds a prompt
 * whose pieces the engine encodes apart.
 */
public final class SpecialPlaceholders {

  private static final char FIRST = Character.MIN_HIGH_SURROGATE;
  private static final int MOST = Character.MAX_HIGH_SURROGATE - FIRST;

  /** Parts two texts that are encoded apart, and stands for no token. */
  public static final String CUT = placeholder(0);

  private SpecialPlaceholders() {}

  /**
   * The placeholder of a token, by its place in the list that {@link
   * IncrementalEncoder#withSpecials} takes.
   */
  public static String of(int index) {
    if (index < 0 || index >= MOST) {
      throw new IllegalArgumentException("index=" + index);
    }
    return placeholder(index + 1);
  }

  private static String placeholder(int number) {
    return new String(new char[] {FIRST, (char) (FIRST + number)});
  }

  /** The placeholders as tokens that a text is searched for. */
  static List<AddedToken> tokens(int[] ids) {
    List<AddedToken> tokens = new ArrayList<>(ids.length + 1);
    tokens.add(new AddedToken(CUT, AddedToken.NO_ID, false, false, false, false));
    for (int i = 0; i < ids.length; i++) {
      tokens.add(new AddedToken(of(i), ids[i], true, false, false, false));
    }
    return tokens;
  }
}
