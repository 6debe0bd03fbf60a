package dev.warmpath.tokenizer;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.encode.EncodedText;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request's prompt: the engine's own token ids, or the reason why they cannot be
 * known here.
 *
 * <p>There is nothing in between: a prompt that might differ by one token from the engine's is
 * {@link Inexact}.
 *
 * <p>Immutable.
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
  record Inexact(Reason reason, String detail) implements PromptResult {}

  /** Why a prompt could not be rendered exactly. */
  enum Reason {
    /** The model has no chat template. */
    NO_TEMPLATE,
    /** The engine renders this model by other means than its template and tokenizer files. */
    UNSUPPORTED_MODEL,
    /** The template cannot be parsed, or refuses these messages as it will on the engine. */
    TEMPLATE_ERROR,
    /** The template does what is not known here, or too much of it. */
    TEMPLATE_UNSUPPORTED,
    /** The request brings its own template, or arguments that change how it is applied. */
    REQUEST_TEMPLATE,
    /** The messages hold images, audio or video. */
    MULTIMODAL,
    /** The engine itself keeps a part of the messages. */
    STORED_HISTORY,
    /** Embeddings stand in the place of tokens or text. */
    PROMPT_EMBEDS,
    /** The request asks for a truncation that only the engine can compute. */
    TRUNCATION,
    /** The prompt comes with the transfer parameters of another engine. */
    KV_TRANSFER,
    /** The text holds half a surrogate pair, which no tokenizer takes. */
    MALFORMED_TEXT,
    /** A part of the text that cannot be cut is so long that its encoding could not be stopped. */
    UNCUTTABLE_TEXT,
    /** A name space of SGLang's ({@code extra_key}, {@code lora_path}) of which nobody can tell. */
    HIDDEN_NAMESPACE,
    /** A token id that the model does not have. */
    TOKEN_OUT_OF_RANGE,
    /** A field of the wrong type or value; the engine will refuse it or read it its own way. */
    INVALID_REQUEST;

    /** The name in metrics and answers: lower case with underscores. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }
}
