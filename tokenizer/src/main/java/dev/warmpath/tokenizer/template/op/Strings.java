package dev.warmpath.tokenizer.template.op;

/**
 * Strings as Python counts them: by code point, where Java counts UTF-16 units. Strings without
 * characters beyond U+FFFF, nearly all, are handled without a second pass of cost.
 *
 * <p>Immutable.
 */
public final class Strings {

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
