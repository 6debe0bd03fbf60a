package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.LongAdder;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * One {@code tokenizer.json} at work that never encodes the same text twice: what a text shares
 * with earlier ones comes from memory, exactly as the whole text would be encoded.
 *
 * <p>Thread-safe.
 */
public final class IncrementalEncoder implements AutoCloseable {

  /*
   * rendered text ─▶ beginnings (compared as text) ─▶ chunks (by hash) ─▶ words (as text) ─▶ native
   *
   * Each layer catches what the one before misses, and each alone is exact: a text is only ever cut
   * where the placement proves that the parts give the tokens of the whole.
   */

  /** Shorter texts have no beginning that is remembered as such. */
  public static final int BEGINNING_CHARS = PrefixTree.PIECE_CHARS;

  /** Characters of a token, about; only the first size of a buffer depends on it. */
  private static final int CHARS_PER_TOKEN = 3;

  /** The same texts at each start, so that one file is always placed alike. */
  private static final long CHECK_SEED = 6;

  private final TextEncoder whole;
  private final boolean placeholders;
  private final @Nullable TextEncoder goingOn;
  private final CutPlan placement;
  private final TokenLengths lengths;
  private final Memory memory;
  private final PrefixTree beginnings;
  private final ChunkEncoder encoder;
  private final LongAdder prefixTokens = new LongAdder();

  private IncrementalEncoder(
      TextEncoder whole,
      @Nullable TextEncoder goingOn,
      TokenizerShape shape,
      boolean placeholders,
      Memory memory) {
    this.whole = whole;
    this.placeholders = placeholders;
    this.goingOn = goingOn;
    this.lengths = TokenLengths.of(shape);
    RandomGenerator random = new SplittableRandom(CHECK_SEED);
    CheckTexts texts = new CheckTexts(placeholders ? List.of() : shape.addedTokens(), random);
    this.placement = check(texts, random).checked(CutPlanner.of(shape), memory.budget.checkTexts());
    this.memory = memory;
    this.beginnings = memory.beginnings(placement);
    this.encoder = memory.encoder(placement, this::encodePiece, lengths);
  }

  private IncrementalEncoder(IncrementalEncoder other, Memory memory) {
    this.whole = other.whole;
    this.placeholders = other.placeholders;
    this.goingOn = other.goingOn;
    this.lengths = other.lengths;
    this.placement = other.placement;
    this.memory = memory;
    this.beginnings = memory.beginnings(placement);
    this.encoder = memory.encoder(placement, this::encodePiece, lengths);
  }

  /** Room for what is remembered. */
  private static final class Memory {
    private volatile EncodeBudget budget;
    private final long hashSeed;
    private final ChunkCache chunks;
    private final WordCache words;

    Memory(EncodeBudget budget, long hashSeed) {
      this.budget = budget;
      this.hashSeed = hashSeed;
      this.chunks = new ChunkCache(budget.chunkBytes(), hashSeed);
      this.words = new WordCache(budget.wordBytes());
    }

    PrefixTree beginnings(CutPlan placement) {
      return new PrefixTree(budget.prefixBytes(), placement.lookaheadChars());
    }

    ChunkEncoder encoder(CutPlan placement, SelfCheck.Encoding pieces, TokenLengths lengths) {
      return new ChunkEncoder(placement, pieces, lengths, chunks, words);
    }

    void resize(EncodeBudget to) {
      budget = to;
      chunks.resize(to.chunkBytes());
      words.resize(to.wordBytes());
    }

    Memory empty() {
      return new Memory(budget, hashSeed);
    }
  }

  /**
   * The encoder of this {@code tokenizer.json}.
   *
   * @param hashSeed what texts are hashed with; a secret, so that nobody can make texts collide
   * @throws IllegalArgumentException if the native library cannot read it
   */
  public static IncrementalEncoder of(TokenizerShape shape, EncodeBudget budget, long hashSeed) {
    return of(shape, false, budget, hashSeed);
  }

  /**
   * The same for texts with {@link SpecialPlaceholders}: what is between two of them is encoded
   * apart, and no text is taken for a special token.
   *
   * @param specialIds the tokens that the placeholders stand for
   * @throws IllegalArgumentException if the native library cannot read it
   */
  public static IncrementalEncoder withSpecials(
      TokenizerShape shape, int[] specialIds, EncodeBudget budget, long hashSeed) {
    return of(shape.with(SpecialPlaceholders.tokens(specialIds)), true, budget, hashSeed);
  }

  private static IncrementalEncoder of(
      TokenizerShape shape, boolean placeholders, EncodeBudget budget, long hashSeed) {
    TextEncoder whole = TextEncoder.of(shape.json());
    TextEncoder goingOn = null;
    try {
      boolean likeBeginnings = CutPlanner.of(shape).head() == CutPlan.Head.NONE;
      goingOn = likeBeginnings ? null : TextEncoder.of(Continuation.of(shape.json()));
      return new IncrementalEncoder(
          whole, goingOn, shape, placeholders, new Memory(budget, hashSeed));
    } catch (RuntimeException | Error e) {
      close(whole, goingOn);
      throw e;
    }
  }

  /** The same encoder with nothing remembered; they share what {@link #close} frees. */
  public IncrementalEncoder forgetful() {
    return new IncrementalEncoder(this, memory.empty());
  }

  /** Remembers within another budget from now on. */
  public void resize(EncodeBudget budget) {
    memory.resize(budget);
    beginnings.resize(budget.prefixBytes());
  }

  /** A check of placements with this tokenizer. */
  SelfCheck check(CheckTexts texts, RandomGenerator random) {
    return new SelfCheck(
        this::encodePiece, (text, head) -> whole.encode(text, false), texts, random);
  }

  /**
   * The tokens of {@code text}, without special tokens; null if it is not well-formed, which texts
   * with placeholders are not checked for.
   *
   * @throws CancellationException if the thread is interrupted before they are known
   * @throws InexactPromptException if a part that cannot be cut is too long to encode at all
   */
  public @Nullable EncodedText encode(String text) {
    return encode(text, EncodeGuard.NONE);
  }

  /**
   * The same as long as {@code guard} lets it go on.
   *
   * @throws EncodeGuard.TooMuchException if it does not
   */
  public @Nullable EncodedText encode(String text, EncodeGuard guard) {
    guard.beforeText(text.length());
    PrefixNode known = beginnings.walk(text);
    int from = known == null ? 0 : known.end();
    if (!placeholders && !TextEncoder.isWellFormed(text, from)) {
      return null;
    }
    IdBuffer rest = new IdBuffer((text.length() - from) / CHARS_PER_TOKEN);
    PrefixNode last = encodeFrom(text, known, rest, guard);
    if (known != null) {
      prefixTokens.add(known.endTokens());
    }
    return new EncodedText(known, rest.from(0), last);
  }

  private @Nullable PrefixNode encodeFrom(
      String text, @Nullable PrefixNode known, IdBuffer out, EncodeGuard guard) {
    PrefixNode last = known;
    int start = known == null ? 0 : known.end();
    int startTokens = 0;
    int at = start;
    while (at < text.length()) {
      ensureWanted();
      int end = placement.chunkEnd(text, at);
      encoder.encode(text, at, end, out, guard);
      if (beginnings.fits(text, start, end)) {
        last = beginnings.add(last, text, end, out.from(startTokens));
        start = end;
        startTokens = out.count();
      }
      at = end;
    }
    return last;
  }

  private static void ensureWanted() {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("the encoding was given up");
    }
  }

  private int[] encodePiece(String piece, boolean head) {
    NativeBound.check(piece);
    return (head || goingOn == null ? whole : goingOn).encode(piece, false);
  }

  /**
   * The tokens of a well-formed text with what the file's post-processor adds.
   *
   * @throws CancellationException if the thread is interrupted already
   * @throws InexactPromptException if the text is too long to encode in one go
   * @throws EncodeGuard.TooMuchException if the guard refuses it
   */
  public EncodedText wholeWithSpecialTokens(String text, EncodeGuard guard) {
    ensureWanted();
    NativeBound.check(text);
    guard.beforeText(text.length());
    guard.beforeNative(text.length());
    int[] ids = whole.encode(text, true);
    guard.afterNative();
    return new EncodedText(ids);
  }

  /**
   * The whole text by the native library alone, however long it is; slow for long texts, and
   * remembers nothing.
   */
  public TextEncoder whole() {
    return whole;
  }

  /** Where texts are cut. */
  public CutPlan placement() {
    return placement;
  }

  /** Where tokens came from, and what is remembered. */
  public EncodeCounts counts() {
    return new EncodeCounts(
        prefixTokens.sum(),
        encoder.chunkTokens(),
        encoder.wordTokens(),
        encoder.nativeTokens(),
        beginnings.counts(),
        memory.chunks.counts(),
        memory.words.counts());
  }

  @Override
  public void close() {
    close(whole, goingOn);
  }

  private static void close(TextEncoder whole, @Nullable TextEncoder goingOn) {
    whole.close();
    if (goingOn != null) {
      goingOn.close();
    }
  }

  /**
   * Makes the tokenizer for pieces that go on a text out of one that puts a blank in front of what
   * it takes for a beginning.
   */
  static final class Continuation {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private Continuation() {}

    /** The file {@code json} without what puts a blank in front. */
    public static String of(String json) {
      try {
        JsonNode file = MAPPER.readTree(json);
        dropPrepend(file.path("normalizer"));
        if (TokenizerShape.isType(file.path("normalizer"), "Prepend")) {
          ((ObjectNode) file).putNull("normalizer");
        }
        if (file.path("pre_tokenizer").has("prepend_scheme")) {
          ((ObjectNode) file.path("pre_tokenizer")).put("prepend_scheme", "never");
        }
        return MAPPER.writeValueAsString(file);
      } catch (JsonProcessingException e) {
        throw new IllegalArgumentException("not readable as JSON: " + e.getMessage(), e);
      }
    }

    private static void dropPrepend(JsonNode sequence) {
      if (sequence.path("normalizers") instanceof ArrayNode steps) {
        for (int i = steps.size() - 1; i >= 0; i--) {
          dropPrepend(steps.get(i));
          if (TokenizerShape.isType(steps.get(i), "Prepend")) {
            steps.remove(i);
          }
        }
      }
    }
  }

  /**
   * How long a text one call of the native library may take: nothing interrupts such a call, so a
   * longer one would hold its thread long after nobody wants its tokens.
   */
  static final class NativeBound {

    /**
     * Bytes of UTF-8, which the library's time goes with: 0.5 to 1.8 µs each, measured with large
     * vocabularies and texts from prose to noise. So the longest call takes about the half second
     * that a prompt has unless the configuration says otherwise, and a second at worst.
     */
    static final int LONGEST_BYTES = 512 << 10;

    /** A character of UTF-16 has at most so many: those of four come in pairs. */
    private static final int MOST_BYTES_PER_CHAR = 3;

    private NativeBound() {}

    /**
     * Refuses {@code text} if it is too long.
     *
     * @throws InexactPromptException if it is
     */
    static void check(String text) {
      if (text.length() > LONGEST_BYTES / MOST_BYTES_PER_CHAR && bytes(text) > LONGEST_BYTES) {
        throw new InexactPromptException(
            FallbackCause.UNCUTTABLE_TEXT,
            "%d characters that cannot be cut, more than %d bytes of UTF-8"
                .formatted(text.length(), LONGEST_BYTES));
      }
    }

    private static long bytes(String text) {
      long bytes = text.length();
      for (int i = 0; i < text.length() && bytes <= LONGEST_BYTES; i++) {
        char c = text.charAt(i);
        bytes += c < 0x80 ? 0 : c < 0x800 || Character.isSurrogate(c) ? 1 : 2;
      }
      return bytes;
    }
  }
}
