package dev.warmpath.kvindex.workload;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.List;

/**
 * What is done to an index, and what it is asked.
 *
 * <p>Immutable.
 *
 * @param maxOrphans what the index is made for
 */
public record Script(int maxOrphans, List<BlockChain> questions, List<Step> steps) {

  public Script with(List<Step> steps) {
    return new Script(maxOrphans, questions, steps);
  }

  /** A question in a few characters. */
  public static String text(BlockChain question) {
    StringBuilder text = new StringBuilder().append(question.space()).append(' ');
    for (int i = 0; i < question.blocks(); i++) {
      text.append(Forest.text(question.localHash(i)));
    }
    return text.toString();
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
