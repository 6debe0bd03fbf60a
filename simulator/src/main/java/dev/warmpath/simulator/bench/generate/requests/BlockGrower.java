package dev.warmpath.simulator.bench.generate.requests;

import java.util.Arrays;

/**
 * Gives out fresh block numbers.
 *
 * <p>Single writer.
 */
final class BlockGrower {

  private int next;

  /** {@code chain} with {@code blocks} fresh blocks behind it. */
  int[] grow(int[] chain, int blocks) {
    int[] grown = Arrays.copyOf(chain, chain.length + blocks);
    for (int i = chain.length; i < grown.length; i++) {
      grown[i] = next++;
    }
    return grown;
  }
}
