package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.kvindex.block.PromptTokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.image.PlacedImages;
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

  /** The prompt's images, as far as they are known; null for none. */
  @Nullable PlacedImages images();

  /**
   * The prompt of the request {@code body} whose tokens an engine said.
   *
   * @param loraName the adapter that the request's model name stands for, or null
   * @param tokenIds what the engine makes of it, not to be changed
   */
  static PromptResult ofEngine(
      RequestKind kind, ObjectNode body, @Nullable String loraName, int[] tokenIds) {
    try {
      PromptOptions options = PromptOptions.read(kind, body);
      HiddenNamespace.check(body);
      if (tokenIds.length == 0) {
        throw InexactPromptException.invalid("a prompt has no tokens");
      }
      PromptKeys keys = new PromptKeys(loraName, options.cacheSalt());
      Tokens tokens =
          new Tokens(List.of(tokenIds), keys, options.readsCache(), options.singleChoice(), null);
      return tokens.askedBy(body);
    } catch (InexactPromptException e) {
      return Inexact.of(e);
    }
  }

  /** The prompt exactly as the engine will compute it. */
  final class Tokens implements PromptResult {

    private final List<EncodedText> sequences;
    private final PromptKeys keys;
    private final boolean readsCache;
    private final boolean comparable;
    private final @Nullable String text;
    private final @Nullable String extraKey;
    private final boolean readsSlowTiers;
    private final @Nullable PlacedImages images;

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
      this(keys, sequences.stream().map(EncodedText::new).toList(), readsCache, comparable, text);
    }

    /** A prompt of these texts; what the first one shares with earlier ones is not hashed again. */
    Tokens(
        PromptKeys keys,
        List<EncodedText> sequences,
        boolean readsCache,
        boolean comparable,
        @Nullable String text) {
      this.sequences = sequences;
      this.keys = keys;
      this.readsCache = readsCache;
      this.comparable = comparable;
      this.text = text;
      this.extraKey = null;
      this.readsSlowTiers = true;
      this.images = null;
      if (sequences.isEmpty() || (comparable && sequences.size() > 1)) {
        throw new IllegalArgumentException(
            "comparable=" + comparable + " sequences=" + sequences.size());
      }
    }

    private Tokens(Tokens plain, @Nullable String extraKey, boolean readsSlowTiers) {
      this.sequences = plain.sequences;
      this.keys = plain.keys;
      this.readsCache = plain.readsCache;
      this.comparable = plain.comparable;
      this.text = plain.text;
      this.extraKey = extraKey;
      this.readsSlowTiers = readsSlowTiers;
      this.images = plain.images;
    }

    /**
     * A prompt with images, whose keys are those at an engine that names images in this way, if
     * they have such names.
     */
    public Tokens(Tokens text, PlacedImages images, @Nullable ImageForm form) {
      PromptKeys named = images.keys(form);
      this.sequences = List.of(new EncodedText(images.ids()));
      this.keys = named == null ? text.keys : named;
      this.readsCache = text.readsCache;
      this.comparable = text.comparable;
      this.text = null; // has no images
      this.extraKey = text.extraKey;
      this.readsSlowTiers = text.readsSlowTiers;
      this.images = images;
    }

    /** The same prompt with what {@code body} says of its name space and of slower memory. */
    Tokens askedBy(ObjectNode body) {
      Tokens named = in(HiddenNamespace.extraKey(body));
      return PromptOptions.limitsLoads(body) ? named.onGpuOnly() : named;
    }

    /** The same prompt in the name space that SGLang opens for an {@code extra_key}, if any. */
    public Tokens in(@Nullable String extraKey) {
      return extraKey == null ? this : new Tokens(this, extraKey, readsSlowTiers);
    }

    /**
     * The same prompt of a request that limits what is loaded from slower memory than the GPU's.
     */
    public Tokens onGpuOnly() {
      return new Tokens(this, extraKey, false);
    }

    /**
     * The token ids of each prompt of the request, one or more, none of them empty; not to be
     * changed. Those of a long text are put together here: ask only if they are needed.
     */
    public List<int[]> sequences() {
      return sequences.stream().map(EncodedText::tokenIds).toList();
    }

    /** The tokens of the first sequence. */
    public PromptTokens firstSequence() {
      return sequences.get(0);
    }

    /** A copy of the first tokens of the first sequence, all if there are fewer. */
    public int[] first(int atMost) {
      return sequences.get(0).range(0, Math.min(atMost, sequences.get(0).count()));
    }

    /**
     * What tells the request's blocks apart besides tokens; images are named as most engines do, so
     * for the blocks of one engine see {@link #keys(ImageForm)}.
     */
    public PromptKeys keys() {
      return keys;
    }

    /**
     * The same at an engine that names images in this way, null for one of which that is not known;
     * null if they have no such names.
     */
    public @Nullable PromptKeys keys(@Nullable ImageForm form) {
      return images == null ? keys : images.keys(form);
    }

    /** Whether there are placeholders for images among the tokens. */
    public boolean hasImages() {
      return images != null;
    }

    @Override
    public @Nullable PlacedImages images() {
      return images;
    }

    /** SGLang's {@code extra_key}, which {@link #keys} do not hold; null for none. */
    public @Nullable String extraKey() {
      return extraKey;
    }

    /** False when the engine computes the whole prompt anew whatever it holds. */
    public boolean readsCache() {
      return readsCache;
    }

    /** False when nothing is to be counted on that slower memory than the GPU's holds. */
    public boolean readsSlowTiers() {
      return readsSlowTiers;
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
      return sequences.get(0).chain(space, under);
    }

    /** The tokens of all sequences together. */
    public int totalTokens() {
      return sequences.stream().mapToInt(EncodedText::count).sum();
    }

    @Override
    public String toString() {
      return "Tokens[sequences=" + sequences.size() + ", totalTokens=" + totalTokens() + "]";
    }
  }

  /**
   * A prompt that cannot be turned into the engine's tokens here.
   *
   * @param detail for people, or empty; never holds any of the prompt
   * @param images what engines may be seen to make of its images; null for nothing
   */
  record Inexact(FallbackCause cause, String detail, @Nullable PlacedImages images)
      implements PromptResult {
    /** A prompt without images, or of which nothing is known. */
    public Inexact(FallbackCause cause, String detail) {
      this(cause, detail, null);
    }

    /** Without a detail. */
    public static Inexact of(FallbackCause cause) {
      return new Inexact(cause, "");
    }

    static Inexact of(InexactPromptException e) {
      return new Inexact(e.fallbackCause(), e.detail());
    }
  }
}
