package dev.warmpath.tokenizer.encode;

import java.util.BitSet;

/**
 * Between which two characters, neither part of an added token, a text may be cut.
 *
 * <p>A cut stands before a blank or a tab whose left neighbour is plain, or behind a line break
 * whose right neighbour is plain and no slash. Plain are the printable characters of ASCII, and
 * letters and digits of the basic plane; all else (surrogates, combining marks, controls, special
 * spaces, and U+2581, which some tokenizers write for a blank) is never beside a cut.
 */
final class CutRule {

  /** No cut anywhere. */
  static final CutRule NEVER = new CutRule(false, false, false, new BitSet());

  private final boolean blanks;
  private final boolean tabs;
  private final boolean lines;
  private final BitSet notAfter;

  private CutRule(boolean blanks, boolean tabs, boolean lines, BitSet notAfter) {
    this.blanks = blanks;
    this.tabs = tabs;
    this.lines = lines;
    this.notAfter = notAfter;
  }

  /** Before blanks and tabs. */
  static CutRule spaces() {
    return new CutRule(true, true, false, new BitSet());
  }

  /** Before blanks and tabs, and behind line breaks. */
  static CutRule spacesAndLines() {
    return new CutRule(true, true, true, new BitSet());
  }

  /** Before blanks whose left neighbour is none of these characters. */
  static CutRule blanksNotAfter(BitSet characters) {
    return new CutRule(true, false, false, (BitSet) characters.clone());
  }

  /** Whether {@code text} may be cut before the character {@code at}, which is not the first. */
  boolean cutsBefore(String text, int at) {
    char right = text.charAt(at);
    char left = text.charAt(at - 1);
    if (right == ' ' || right == '\t') {
      return (right == ' ' ? blanks : tabs) && isPlain(left) && !notAfter.get(left);
    }
    return lines && left == '\n' && right != '/' && isPlain(right);
  }

  private static boolean isPlain(char c) {
    if (c < 0x80) {
      return c > ' ' && c < 0x7f;
    }
    return c != '\u2581' && Character.isLetterOrDigit(c);
  }
}
