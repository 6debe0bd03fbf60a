package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Tries the cuts of a tokenizer on many random texts, and what is remembered on texts that grow.
 */
public final class CutCheck {

  private static final int LONGEST_CHARS = 30_000;
  private static final EncodeBudget BUDGET = new EncodeBudget(64 << 20, EncodeBudget.CHECK_TEXTS);

  private CutCheck() {}

  /**
   * What came out.
   *
   * @param texts how many texts were tried in each of the two ways
   * @param inPieces texts whose pieces, cut at every place, gave other tokens than the whole
   * @param fromMemory texts that grew out of others and gave other tokens than without memory
   */
  public record Result(CutPlan placement, int texts, int inPieces, int fromMemory) {

    /** All texts that came out otherwise. */
    public int mismatches() {
      return inPieces + fromMemory;
    }
  }

  /**
   * Tries {@code texts} random texts.
   *
   * @throws IllegalArgumentException if {@code json} is not a usable tokenizer
   */
  public static Result run(String json, int texts, long seed) {
    RandomGenerator random = new SplittableRandom(seed);
    TokenizerShape shape = TokenizerShape.read(json);
    CheckTexts bits = new CheckTexts(shape.addedTokens(), random);
    try (IncrementalEncoder encoder = IncrementalEncoder.of(shape, BUDGET, seed)) {
      SelfCheck check = encoder.check(bits, random);
      int inPieces = check.mismatches(encoder.placement(), texts, Integer.MAX_VALUE);
      int fromMemory = growing(encoder, bits, texts, random);
      return new Result(encoder.placement(), texts, inPieces, fromMemory);
    }
  }

  /** Mostly short texts, for the native library takes long for the others. */
  private static int growing(
      IncrementalEncoder encoder, CheckTexts bits, int texts, RandomGenerator random) {
    int differ = 0;
    String text = "";
    for (int i = 0; i < texts; i++) {
      boolean anew = text.length() > (random.nextInt(16) == 0 ? LONGEST_CHARS : 1_000);
      text = (anew ? "" : text) + bits.next();
      EncodedText encoded = encoder.encode(text);
      boolean same =
          encoded != null && Arrays.equals(encoded.tokenIds(), encoder.whole().encode(text, false));
      differ += same ? 0 : 1;
    }
    return differ;
  }
}
