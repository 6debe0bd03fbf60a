package dev.warmpath.eventingest.wire;

/**
 * The tokens of a store: of all its blocks in order, then the lookahead tokens of the last one.
 *
 * <p>The lookahead tokens of every other block are the first tokens of its successor; an event that
 * says otherwise is {@link Naming#BROKEN_LOOKAHEAD}.
 *
 * <p>Immutable, as long as nobody writes to the array.
 *
 * @param ids token ids; when {@code naming} is not {@code DENSE} they are of no use
 * @param blockSizeTokens tokens that each hash covers; 0 in placeholders
 * @param lookaheadTokens tokens after its block that each hash covers as well
 * @param naming {@code DENSE}, unless the tokens by themselves forbid to name the blocks
 */
@SuppressWarnings("ArrayRecordComponent") // the hot path; equality of events is never asked for
public record BlockTokens(int[] ids, int blockSizeTokens, int lookaheadTokens, Naming naming) {

  public BlockTokens {
    if (blockSizeTokens < 0) {
      throw new IllegalArgumentException("blockSizeTokens=" + blockSizeTokens);
    }
    if (lookaheadTokens < 0 || lookaheadTokens > ids.length) {
      throw new IllegalArgumentException("lookaheadTokens=" + lookaheadTokens);
    }
  }

  /** Plain tokens without lookahead. */
  public static BlockTokens of(int blockSizeTokens, int... ids) {
    return new BlockTokens(ids, blockSizeTokens, 0, Naming.DENSE);
  }

  /** How many tokens the blocks have, lookahead tokens not counted. */
  public int count() {
    return ids.length - lookaheadTokens;
  }
}
