package dev.warmpath.kvindex.model;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A binary tree of prompts: few blocks, so that everything collides with everything.
 *
 * <p>Immutable.
 */
final class PromptTree {

  static final int DEPTH = 4;
  static final int LEAVES = 1 << DEPTH;
  static final ChainSpace SPACE = new ChainSpace("m", 2, 0);

  private final List<BlockChain> leaves = new ArrayList<>();
  private final List<BlockChain> questions = new ArrayList<>();

  PromptTree() {
    for (int leaf = 0; leaf < LEAVES; leaf++) {
      int[] tokens = tokens(leaf);
      leaves.add(BlockChain.of(SPACE, tokens, PromptKeys.NONE));
      int[] shorter = Arrays.copyOf(tokens, tokens.length - leaf % 5);
      questions.add(BlockChain.of(SPACE, shorter, PromptKeys.NONE));
    }
  }

  /** The prompts to ask for, of several lengths. */
  List<BlockChain> questions() {
    return questions;
  }

  BlockChain prompt(int leaf) {
    return leaves.get(leaf);
  }

  long localHash(int leaf, int block) {
    return leaves.get(leaf).localHash(block);
  }

  /** The hash that an honest engine gives: a number that only this block of the tree has. */
  static long engineHash(int leaf, int block) {
    return (1L << block + 1) + (leaf >> DEPTH - 1 - block);
  }

  /** One bit of the leaf's number a block, and a last token beyond the blocks. */
  private static int[] tokens(int leaf) {
    int[] tokens = new int[2 * DEPTH + 1];
    for (int block = 0; block < DEPTH; block++) {
      tokens[2 * block] = leaf >> DEPTH - 1 - block & 1;
    }
    return tokens;
  }
}
