package dev.warmpath.tokenizer.encode;

import java.util.concurrent.atomic.LongAdder;

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
}
