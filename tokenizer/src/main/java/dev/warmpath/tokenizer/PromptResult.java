package dev.warmpath.tokenizer;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.body.PromptRefused;
import dev.warmpath.tokenizer.body.Reason;
import dev.warmpath.tokenizer.encode.EncodedText;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request's prompt: the engine's own token ids, or the reason why they cannot be
 * known here.
 *
 * <p>There is nothing in between: a prompt that might differ by one token from the engine's is
 * {@link Inexact}.
 */
public sealed interface PromptResult {

  /** The prompt exactly as the engine will compute it. */
  final class Tokens implements PromptResult {

    private final List<int[]> given;
    private final @Nullable EncodedText encoded;
    private final PromptKeys keys;
    private final boolean readsCache;
    private final boolean comparable;
    private final @Nullable String text;
    private final @Nullable String extraKey;

    /**
     * A prompt of these tokens.
     *
     * @param sequences the token ids of each prompt of the request, one or more, none of them
     *     empty; not to be changed
     * @param text the given text when there is exactly one, or null
     */
    public Tokens(
        List<int[]> sequences,
        PromptKeys keys,
        boolean readsCache,
        boolean comparable,
        @Nullable String text) {
      this.given = List.copyOf(sequences);
      this.encoded = null;
      this.keys = keys;
      this.readsCache = readsCache;
      this.comparable = comparable;
      this.text = text;
      this.extraKey = null;
      if (given.isEmpty()) {
        throw new IllegalArgumentException("sequences=0");
      }
      if (comparable && given.size() > 1) {
        throw new IllegalArgumentException("comparable with sequences=" + given.size());
      }
    }

    /** A prompt of one text; what it shares with earlier ones is not hashed again. */
    Tokens(
        EncodedText encoded, PromptKeys keys, boolean readsCache, boolean comparable, String text) {
      this.given = List.of();
      this.encoded = encoded;
      this.keys = keys;
      this.readsCache = readsCache;
      this.comparable = comparable;
      this.text = text;
      this.extraKey = null;
    }

    private Tokens(Tokens plain, String extraKey) {
      this.given = plain.given;
      this.encoded = plain.encoded;
      this.keys = plain.keys;
      this.readsCache = plain.readsCache;
      this.comparable = plain.comparable;
      this.text = plain.text;
      this.extraKey = extraKey;
    }

    /** The same prompt in the name space that SGLang opens for an {@code extra_key}, if any. */
    public Tokens in(@Nullable String extraKey) {
      return extraKey == null ? this : new Tokens(this, extraKey);
    }

    /**
     * The token ids of each prompt of the request, one or more, none of them empty; not to be
     * changed. Those of a long text are put together here: ask only if they are needed.
     */
    public List<int[]> sequences() {
      return encoded == null ? given : List.of(encoded.tokenIds());
    }

    /** A copy of the first tokens of the first sequence, all if there are fewer. */
    public int[] first(int atMost) {
      return encoded == null
          ? Arrays.copyOf(given.get(0), Math.min(atMost, given.get(0).length))
          : encoded.range(0, Math.min(atMost, encoded.count()));
    }

    /** What tells the request's blocks apart besides tokens. */
    public PromptKeys keys() {
      return keys;
    }

    /** SGLang's {@code extra_key}, which {@link #keys} do not hold; null for none. */
    public @Nullable String extraKey() {
      return extraKey;
    }

    /** False when the engine computes the whole prompt anew whatever it holds. */
    public boolean readsCache() {
      return readsCache;
    }

    /**
     * Whether the {@code cached_tokens} that the engine reports speaks about the one sequence here;
     * false for several prompts, several choices, beam search, and the legs of disaggregated
     * serving.
     */
    public boolean comparable() {
      return comparable;
    }

    /** The rendered or given text when there is exactly one, or null. */
    public @Nullable String text() {
      return text;
    }

    /** The block chain of the first sequence under {@link #keys} or others. */
    public BlockChain chain(ChainSpace space, PromptKeys under) {
      return encoded == null
          ? BlockChain.of(space, given.get(0), under)
          : encoded.chain(space, under);
    }

    /** The tokens of all sequences together. */
    public int totalTokens() {
      return encoded == null ? given.stream().mapToInt(ids -> ids.length).sum() : encoded.count();
    }

    @Override
    public String toString() {
      int sequences = encoded == null ? given.size() : 1;
      return "Tokens[sequences=" + sequences + ", totalTokens=" + totalTokens() + "]";
    }
  }

  /**
   * A prompt that cannot be turned into the engine's tokens here.
   *
   * @param detail for people; never holds any of the prompt
   */
  record Inexact(Reason reason, String detail) implements PromptResult {
    static Inexact of(PromptRefused refused) {
      return new Inexact(refused.reason(), refused.detail());
    }
  }
}
