package dev.warmpath.lab.tokens;

/**
 * Gives out a long text piece by piece, from the beginning again at its end.
 *
 * <p>Confined to one thread.
 */
final class TextStream {

  private final String text;
  private int at;

  TextStream(String text) {
    if (text.length() < 2) {
      throw new IllegalArgumentException("chars=" + text.length());
    }
    this.text = text;
  }

  /** The next {@code chars} characters, one more if that would part a pair. */
  String next(int chars) {
    StringBuilder out = new StringBuilder(chars + 1);
    while (out.length() < chars) {
      int end = Math.min(text.length(), at + chars - out.length());
      if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
        end++;
      }
      out.append(text, at, end);
      at = end == text.length() ? 0 : end;
    }
    return out.toString();
  }
}
