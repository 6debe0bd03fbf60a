package dev.warmpath.kvindex.proof;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.List;

/**
 * What is done to an index, and what it is asked.
 *
 * <p>Immutable.
 *
 * @param maxOrphans what the index is made for
 */
record Script(int maxOrphans, List<BlockChain> questions, List<Step> steps) {

  Script with(List<Step> steps) {
    return new Script(maxOrphans, questions, steps);
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("maxOrphans=" + maxOrphans);
    for (int i = 0; i < steps.size(); i++) {
      text.append("\n  ").append(i + 1).append(". ").append(steps.get(i));
    }
    return text.toString();
  }
}
