package dev.warmpath.tokenizer;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.encode.EncodedText;
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

  /**
   * The prompt exactly as the engine will compute it.
   *
   * @param sequences the token ids of each prompt of the request, one or more, none of them empty;
   *     not to be changed
   * @param keys what tells the request's blocks apart besides tokens
   * @param readsCache false when the engine computes the whole prompt anew whatever it holds
   * @param comparable whether the {@code cached_tokens} that the engine reports speaks about the
   *     one sequence here; false for several prompts, several choices, beam search, and the legs of
   *     disaggregated serving
   * @param text the rendered or given text when there is exactly one, or null
   * @param encoded how the one sequence was made, or null; what it shares with earlier prompts is
   *     not hashed again
   */
  record Tokens(
      List<int[]> sequences,
      PromptKeys keys,
      boolean readsCache,
      boolean comparable,
      @Nullable String text,
      @Nullable EncodedText encoded)
      implements PromptResult {

    public Tokens(
        List<int[]> sequences,
        PromptKeys keys,
        boolean readsCache,
        boolean comparable,
        @Nullable String text) {
      this(sequences, keys, readsCache, comparable, text, null);
    }

    public Tokens {
      sequences = List.copyOf(sequences);
      if (sequences.isEmpty()) {
        throw new IllegalArgumentException("sequences=0");
      }
      if (comparable && sequences.size() > 1) {
        throw new IllegalArgumentException("comparable with sequences=" + sequences.size());
      }
    }

    /** The same, whose one sequence is {@code encoded} whole. */
    Tokens encodedAs(EncodedText encoded) {
      return new Tokens(sequences, keys, readsCache, comparable, text, encoded);
    }

    /** The block chain of the first sequence. */
    public BlockChain chain(ChainSpace space) {
      return encoded == null
          ? BlockChain.of(space, sequences.get(0), keys)
          : encoded.chain(space, keys);
    }

    /** The tokens of all sequences together. */
    public int totalTokens() {
      return sequences.stream().mapToInt(ids -> ids.length).sum();
    }

    @Override
    public String toString() {
      return "Tokens[sequences=" + sequences.size() + ", totalTokens=" + totalTokens() + "]";
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
    /** SGLang's {@code extra_key}: its events do not show whose the blocks are. */
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
