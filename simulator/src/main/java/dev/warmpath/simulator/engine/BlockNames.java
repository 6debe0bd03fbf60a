package dev.warmpath.simulator.engine;

/**
 * The names of one sequence's full blocks, of its prompt and of its answer.
 *
 * <p>The same name means the same block behind the same prefix, in the same name space: the cache
 * knows no tokens.
 *
 * <p>Single writer.
 */
@FunctionalInterface
public interface BlockNames {

  /**
   * The name of full block {@code block}, from 0. Asked only for blocks that are full, in any
   * order, as often as the cache looks for them.
   */
  long of(int block);
}
