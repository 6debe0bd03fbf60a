package dev.warmpath.tokenizer.template.builtin;

import java.util.Locale;

/**
 * Upper, lower and title case as Python writes them: Unicode's special cases, among them the sigma
 * that ends a word.
 */
final class PythonCase {
  private static final char SIGMA = '\u03a3';
  private static final char SMALL_SIGMA = '\u03c3';
  private static final char FINAL_SIGMA = '\u03c2';
  private static final char IOTA = '\u0399';
  private static final char IOTA_BELOW = '\u0345';

  /** Marks within words that are no letters, besides those that their category tells. */
  private static final String WITHIN_WORDS =
      "'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";

  private PythonCase() {}

  /** The same in small letters. */
  public static String lower(String s) {
    if (s.indexOf(SIGMA) < 0) {
      return s.toLowerCase(Locale.ROOT);
    }
    StringBuilder out = new StringBuilder(s.length());
    for (int i = 0; i < s.length(); i = s.offsetByCodePoints(i, 1)) {
      out.append(lowerAt(s, i));
    }
    return out.toString();
  }

  /** The first letter large and the rest small. */
  public static String capitalized(String s) {
    StringBuilder out = new StringBuilder(s.length());
    for (int i = 0; i < s.length(); i = s.offsetByCodePoints(i, 1)) {
      out.append(i == 0 ? large(s.codePointAt(0)) : lowerAt(s, i));
    }
    return out.toString();
  }

  /** Each word's first letter large and the rest small. */
  static String titled(String s) {
    StringBuilder out = new StringBuilder(s.length());
    boolean within = false;
    for (int i = 0; i < s.length(); i = s.offsetByCodePoints(i, 1)) {
      int c = s.codePointAt(i);
      out.append(within ? lowerAt(s, i) : large(c));
      within = isCased(c);
    }
    return out.toString();
  }

  private static String lowerAt(String s, int at) {
    int c = s.codePointAt(at);
    if (c == SIGMA) {
      return String.valueOf(endsWord(s, at) ? FINAL_SIGMA : SMALL_SIGMA);
    }
    return Character.toString(c).toLowerCase(Locale.ROOT);
  }

  /** Whether a cased letter stands before and none behind; marks within words do not count. */
  private static boolean endsWord(String s, int at) {
    int before = at;
    do {
      before = before == 0 ? -1 : s.offsetByCodePoints(before, -1);
    } while (before >= 0 && isIgnored(s.codePointAt(before)));
    int behind = at + 1;
    while (behind < s.length() && isIgnored(s.codePointAt(behind))) {
      behind = s.offsetByCodePoints(behind, 1);
    }
    return before >= 0
        && isCased(s.codePointAt(before))
        && (behind == s.length() || !isCased(s.codePointAt(behind)));
  }

  private static String large(int c) {
    int single = Character.toTitleCase(c);
    String upper = Character.toString(c).toUpperCase(Locale.ROOT);
    boolean several = upper.codePointCount(0, upper.length()) > 1;
    if (!several || single != c || Character.isTitleCase(c)) {
      return Character.toString(single);
    }
    String rest = upper.substring(1).replace(IOTA, IOTA_BELOW);
    return upper.charAt(0) + (isCased(upper.charAt(0)) ? rest.toLowerCase(Locale.ROOT) : rest);
  }

  private static boolean isCased(int c) {
    return Character.isUpperCase(c) || Character.isLowerCase(c) || Character.isTitleCase(c);
  }

  private static boolean isIgnored(int c) {
    return switch (Character.getType(c)) {
      case Character.NON_SPACING_MARK,
          Character.ENCLOSING_MARK,
          Character.FORMAT,
          Character.MODIFIER_LETTER,
          Character.MODIFIER_SYMBOL ->
          true;
      default -> WITHIN_WORDS.indexOf(c) >= 0;
    };
  }
}
