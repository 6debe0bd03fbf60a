package dev.warmpath.simulator.live;

import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.image.PlacedImages;
import dev.warmpath.tokenizer.image.PromptImage;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

/**
 * The ids that SGLang puts in the place of an image's tokens: a million and up to 56 bits of a
 * digest. Here they are ints, negative ones, that stand for them.
 */
final class SglangImages {

  private static final long FIRST = 1_000_000;
  private static final long DIGEST = (1L << 56) - 1;

  /** Odd, so that different numbers give different digests. */
  private static final long SPREAD = 0x9e3779b97f4a7fL;

  private SglangImages() {}

  /** The token ids of each prompt of a request. */
  static List<int[]> sequences(Tokens prompt) {
    PlacedImages images = prompt.images();
    if (images == null) {
      return prompt.sequences();
    }
    int[] ids = images.ids().clone();
    for (PromptImage image : images.images()) {
      String digest = image.identifiers().values().iterator().next();
      int id = (int) HexFormat.fromHexDigitsToLong(digest, 0, 8) | Integer.MIN_VALUE;
      Arrays.fill(ids, image.from(), image.from() + image.lengthTokens(), id);
    }
    return List.of(ids);
  }

  /** The id on the wire and in hashes. */
  static long wide(int id) {
    return id >= 0 ? id : FIRST + (DIGEST & SPREAD * (id & Integer.MAX_VALUE));
  }
}
