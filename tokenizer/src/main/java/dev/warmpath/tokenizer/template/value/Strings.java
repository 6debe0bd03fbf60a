package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.Budget;

/**
 * Strings as Python counts them: by code point, where Java counts UTF-16 units. Strings without
 * characters beyond U+FFFF, nearly all, are handled without a second pass of cost.
 */
public final class Strings {

  /**
   * More characters are looked for by the first of them: a search for many that nearly fit at each
   * place would go on long after it is given up.
   */
  private static final int HEAD_CHARS = 32;

  private Strings() {}

  /** Whether a UTF-16 unit is a code point throughout. */
  public static boolean isPlain(String s) {
    for (int i = 0; i < s.length(); i++) {
      if (Character.isSurrogate(s.charAt(i))) {
        return false;
      }
    }
    return true;
  }

  public static int length(String s) {
    return s.codePointCount(0, s.length());
  }

  /** The UTF-16 index of a code point index within {@code 0..length(s)}. */
  public static int unitIndex(String s, int index) {
    return s.offsetByCodePoints(0, index);
  }

  public static String at(String s, int index) {
    int unit = isPlain(s) ? index : unitIndex(s, index);
    return new String(Character.toChars(s.codePointAt(unit)));
  }

  public static String substring(String s, int from, int to) {
    if (isPlain(s)) {
      return s.substring(from, to);
    }
    return s.substring(unitIndex(s, from), unitIndex(s, to));
  }

  /** The first UTF-16 index of {@code part} from {@code from} on; negative if there is none. */
  public static int indexOf(Budget budget, String s, String part, int from) {
    String head = part.substring(0, Math.min(part.length(), HEAD_CHARS));
    int at = s.indexOf(head, from);
    while (at >= 0 && !isAt(budget, s, part, at)) {
      at = s.indexOf(head, at + 1);
    }
    return at;
  }

  private static boolean isAt(Budget budget, String s, String part, int at) {
    if (part.length() <= HEAD_CHARS) {
      return true;
    }
    budget.scanned(part.length());
    return s.startsWith(part, at);
  }

  /** Order by code points. */
  public static int compare(String a, String b) {
    int shared = Math.min(a.length(), b.length());
    for (int i = 0; i < shared; i++) {
      char x = a.charAt(i);
      char y = b.charAt(i);
      if (x != y) {
        boolean bothOrNone = Character.isSurrogate(x) == Character.isSurrogate(y);
        return bothOrNone ? x - y : Character.isSurrogate(x) ? 1 : -1;
      }
    }
    return a.length() - b.length();
  }
}
