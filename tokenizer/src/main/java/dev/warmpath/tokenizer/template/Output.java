package dev.warmpath.tokenizer.template;

import java.util.ArrayList;
import java.util.List;

/**
 * Text that is being written. Long texts are not copied before all is written, and then once.
 *
 * <p>Confined to the thread of its render.
 */
public final class Output {

  private static final int USUAL_CHARS = 16;

  /** Texts from this length on are kept as they are. */
  private static final int LONG_CHARS = 256;

  private final List<String> pieces = new ArrayList<>(0);
  private final StringBuilder tail;
  private int piecesChars;
  private int longestTailChars;

  public Output() {
    this(USUAL_CHARS);
  }

  /**
   * With room.
   *
   * @param tailChars how many characters of short texts are expected behind each other
   */
  public Output(int tailChars) {
    tail = new StringBuilder(tailChars);
  }

  public void append(String text) {
    if (text.length() < LONG_CHARS) {
      tail.append(text);
    } else {
      endTail();
      pieces.add(text);
      piecesChars += text.length();
    }
  }

  public int length() {
    return piecesChars + tail.length();
  }

  /** The most characters that short texts had behind each other. */
  public int longestTailChars() {
    return Math.max(longestTailChars, tail.length());
  }

  /** The text from {@code start} on. */
  public String from(int start) {
    int first = pieces.size();
    int at = piecesChars;
    while (at > start) {
      at -= pieces.get(--first).length();
    }
    String last = tail.toString();
    List<String> all = new ArrayList<>(pieces.subList(first, pieces.size()));
    all.add(last);
    return String.join("", all).substring(start - at);
  }

  /** Takes back what was written from {@code start} on. */
  public void cut(int start) {
    String cut = "";
    while (piecesChars > start) {
      tail.setLength(0);
      cut = pieces.remove(pieces.size() - 1);
      piecesChars -= cut.length();
    }
    tail.append(cut).setLength(start - piecesChars);
  }

  @Override
  public String toString() {
    return pieces.isEmpty() ? tail.toString() : from(0);
  }

  private void endTail() {
    if (!tail.isEmpty()) {
      longestTailChars = longestTailChars();
      pieces.add(tail.toString());
      piecesChars += tail.length();
      tail.setLength(0);
    }
  }
}
