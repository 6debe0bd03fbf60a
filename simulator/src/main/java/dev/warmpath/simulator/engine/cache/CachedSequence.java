package dev.warmpath.simulator.engine.cache;

import java.util.ArrayList;
import java.util.List;

/**
 * One sequence as its cache sees it: the names of its full blocks and the physical blocks that it
 * holds in each group.
 *
 * <p>Single writer.
 */
public class CachedSequence {

  final BlockNames names;
  final List<List<Block>> blocks = new ArrayList<>(1);
  int[] committedBlocks = {};

  /** A sequence that holds nothing yet. */
  public CachedSequence(BlockNames names) {
    this.names = names;
  }

  /** The name of full block {@code block}. */
  public final long name(int block) {
    return names.of(block);
  }

  void attach(int groups) {
    committedBlocks = committedBlocks.length == groups ? committedBlocks : new int[groups];
    while (blocks.size() < groups) {
      blocks.add(new ArrayList<>());
    }
  }
}
