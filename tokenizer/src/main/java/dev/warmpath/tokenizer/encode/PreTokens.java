package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The pre-tokens of one rest, which are the words that the tokenizer encodes apart, and those of
 * their token ids that are known.
 *
 * <p>Confined to one thread.
 */
final class PreTokens {

  /**
   * A call of the native library costs about as much as so many characters of a long text: with
   * more unknown words than that, the rest is encoded as a whole.
   */
  private static final int CHARS_PER_CALL = 40;

  private static final int FREE_MISSES = 2;

  private final CutPlan placement;
  private final WordCache words;
  private final String text;
  private final int from;
  private final int to;
  private int[] ends = new int[16];
  private int[] @Nullable [] ids = new int[16][];
  private int count;
  private int misses;

  PreTokens(CutPlan placement, WordCache words, String text, int from, int to) {
    this.placement = placement;
    this.words = words;
    this.text = text;
    this.from = from;
    this.to = to;
  }

  /**
   * Looks the words up.
   *
   * @param head whether the first word gets the tokenizer's prefix space, and so is no word like
   *     others
   */
  void find(boolean head) {
    int start = from;
    while (start < to) {
      int end = placement.pieceEnd(text, start, to);
      boolean findable = end - start <= WordCache.LONGEST_CHARS && !(head && start == from);
      add(end, findable ? words.find(text.substring(start, end)) : null);
      start = end;
    }
  }

  boolean isMostlyKnown() {
    return misses <= Math.max(FREE_MISSES, (to - from) / CHARS_PER_CALL);
  }

  int count() {
    return count;
  }

  private String word(int index) {
    return text.substring(start(index), ends[index]);
  }

  int @Nullable [] ids(int index) {
    return ids[index];
  }

  /** The end of the words from {@code index} on that are all unknown. */
  int unknownEnd(int index) {
    int end = index;
    while (end < count && ids[end] == null) {
      end++;
    }
    return end;
  }

  /** The text of the words {@code [first, end)}. */
  String words(int first, int end) {
    return text.substring(start(first), ends[end - 1]);
  }

  /**
   * Remembers the unknown among the words {@code [first, end)}, whose tokens are {@code tokenIds},
   * if they are plain enough that the tokens show where each word ends.
   */
  void learn(int first, int end, int[] tokenIds, TokenLengths lengths) {
    int at = start(first);
    if (!isAscii(at, ends[end - 1]) || !lengths.add(tokenIds, ends[end - 1] - at)) {
      return;
    }
    int token = 0;
    for (int i = first; i < end; i++) {
      int firstToken = token;
      while (at < ends[i]) {
        at += lengths.chars(tokenIds[token++]);
      }
      if (at != ends[i]) {
        return;
      }
      if (ids[i] == null && ends[i] - start(i) <= WordCache.LONGEST_CHARS) {
        words.put(word(i), Arrays.copyOfRange(tokenIds, firstToken, token));
      }
    }
  }

  private void add(int end, int @Nullable [] known) {
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, 2 * count);
      ids = Arrays.copyOf(ids, 2 * count);
    }
    ends[count] = end;
    ids[count++] = known;
    misses += known == null ? 1 : 0;
  }

  private int start(int index) {
    return index == 0 ? from : ends[index - 1];
  }

  private boolean isAscii(int start, int end) {
    for (int i = start; i < end; i++) {
      if (text.charAt(i) >= 0x80) {
        return false;
      }
    }
    return true;
  }
}
