package dev.warmpath.simulator.engine;

import java.util.Arrays;

/**
 * One sequence as its cache sees it: the names of its full blocks and the physical blocks that it
 * holds in each group.
 *
 * <p>Single writer.
 */
public class CachedSequence {

  private static final BlockTable[] HOLDS_NOTHING = {};

  private final BlockNames names;
  private final int promptTokens;

  /** A table for each group, as long as the sequence holds blocks; lent by the cache. */
  BlockTable[] tables = HOLDS_NOTHING;

  /** Blocks that its last lookup found in the full-attention group; more than other groups had. */
  int sharedBlocks;

  /** A sequence that holds nothing yet; its prompt has at least one token. */
  public CachedSequence(BlockNames names, int promptTokens) {
    if (promptTokens < 1) {
      throw new IllegalArgumentException("promptTokens=" + promptTokens);
    }
    this.names = names;
    this.promptTokens = promptTokens;
  }

  public final int promptTokens() {
    return promptTokens;
  }

  /** The name of full block {@code block}. */
  public final long name(int block) {
    return names.of(block);
  }

  /** Numbers of the blocks that it holds in each group, in order; 0 where a window has passed. */
  public final int[][] heldBlocks() {
    return Arrays.stream(tables).map(BlockTable::toArray).toArray(int[][]::new);
  }

  final boolean holdsNothing() {
    return tables.length == 0;
  }

  /** Gives the tables back. */
  final BlockTable[] detach() {
    BlockTable[] lent = tables;
    tables = HOLDS_NOTHING;
    return lent;
  }
}
