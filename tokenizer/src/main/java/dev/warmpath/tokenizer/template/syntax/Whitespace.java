package dev.warmpath.tokenizer.template.syntax;

/**
 * White space as {@code str.isspace} and {@code \s} see it, which is neither Java's nor Unicode's.
 */
public final class Whitespace {

  private Whitespace() {}

  public static boolean is(int c) {
    if (c < 0x80) {
      return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
    }
    return c == 0x85
        || c == 0xa0
        || c == 0x1680
        || (c >= 0x2000 && c <= 0x200a)
        || c == 0x2028
        || c == 0x2029
        || c == 0x202f
        || c == 0x205f
        || c == 0x3000;
  }

  /** The first index at or after {@code from} that is not white space. */
  public static int skip(String s, int from) {
    int i = from;
    while (i < s.length() && is(s.charAt(i))) {
      i++;
    }
    return i;
  }

  /** The end of {@code s} without its trailing white space, not before {@code from}. */
  public static int trimEnd(String s, int from) {
    return trimEnd(s, from, s.length());
  }

  /** The same for the text before {@code to}. */
  public static int trimEnd(String s, int from, int to) {
    int end = to;
    while (end > from && is(s.charAt(end - 1))) {
      end--;
    }
    return end;
  }

  public static String strip(String s) {
    int from = skip(s, 0);
    return s.substring(from, trimEnd(s, from));
  }

  public static String stripEnd(String s) {
    return s.substring(0, trimEnd(s, 0));
  }
}
