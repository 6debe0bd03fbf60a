package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Encodes chunks: from memory as a whole, or from words that are known, or with the native library.
 *
 * <p>Thread-safe.
 */
final class ChunkEncoder {

  private final CutPlan placement;
  private final SelfCheck.Encoding pieces;
  private final TokenLengths lengths;
  private final ChunkCache chunks;
  private final WordCache words;
  private final LongAdder chunkTokens = new LongAdder();
  private final LongAdder wordTokens = new LongAdder();
  private final LongAdder nativeTokens = new LongAdder();

  ChunkEncoder(
      CutPlan placement,
      SelfCheck.Encoding pieces,
      TokenLengths lengths,
      ChunkCache chunks,
      WordCache words) {
    this.placement = placement;
    this.pieces = pieces;
    this.lengths = lengths;
    this.chunks = chunks;
    this.words = words;
  }

  /**
   * Adds the tokens of the chunk {@code [from, to)} to {@code out}.
   *
   * @throws EncodeGuard.TooMuchException if the guard refuses a part of it
   */
  void encode(String text, int from, int to, IdBuffer out, EncodeGuard guard) {
    ChunkCache.TextKey key = chunks.key(text.substring(from, to), placement.isHead(from));
    int[] known = chunks.find(key);
    if (known != null) {
      chunkTokens.add(known.length);
      out.add(known);
      return;
    }
    int before = out.count();
    placement.parts(text, from, to, new Parts(text, out, guard));
    chunks.put(key, out.from(before));
  }

  long chunkTokens() {
    return chunkTokens.sum();
  }

  long wordTokens() {
    return wordTokens.sum();
  }

  long nativeTokens() {
    return nativeTokens.sum();
  }

  private final class Parts implements CutPlan.Parts {
    private final String text;
    private final IdBuffer out;
    private final EncodeGuard guard;

    Parts(String text, IdBuffer out, EncodeGuard guard) {
      this.text = text;
      this.out = out;
      this.guard = guard;
    }

    private int[] encodeNatively(String piece, boolean head) {
      guard.beforeNative(piece.length());
      int[] ids = pieces.encode(piece, head);
      guard.afterNative();
      nativeTokens.add(ids.length);
      return ids;
    }

    @Override
    public void token(int id) {
      wordTokens.increment();
      out.add(id);
    }

    @Override
    public void rest(int from, int to, boolean head, boolean solid) {
      if (solid) {
        out.add(encodeNatively(text.substring(from, to), head));
        return;
      }
      PreTokens rest = new PreTokens(placement, words, text, from, to);
      rest.find(head);
      if (rest.isMostlyKnown()) {
        addWords(rest, head);
      } else {
        int[] ids = encodeNatively(text.substring(from, to), head);
        out.add(ids);
        if (!head) {
          rest.learn(0, rest.count(), ids, lengths);
        }
      }
    }

    /** Neighbours that are unknown are encoded together. */
    private void addWords(PreTokens rest, boolean head) {
      int i = 0;
      while (i < rest.count()) {
        int[] ids = rest.ids(i);
        int end = i + 1;
        if (ids == null) {
          boolean first = head && i == 0;
          end = rest.unknownEnd(i);
          ids = encodeNatively(rest.words(i, end), first);
          if (!first) {
            remember(rest, i, end, ids);
          }
        } else {
          wordTokens.add(ids.length);
        }
        out.add(ids);
        i = end;
      }
    }

    private void remember(PreTokens rest, int first, int end, int[] ids) {
      if (end - first == 1) {
        words.put(rest.words(first, end), ids);
      } else {
        rest.learn(first, end, ids, lengths);
      }
    }
  }

  /**
   * The pre-tokens of one rest, which are the words that the tokenizer encodes apart, and those of
   * their token ids that are known.
   *
   * <p>Confined to one thread.
   */
  private static final class PreTokens {

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
     * Remembers the unknown among the words {@code [first, end)}, whose tokens are {@code
     * tokenIds}, if they are plain enough that the tokens show where each word ends.
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
}
