package dev.warmpath.lab.index;

import dev.warmpath.simulator.trace.Trace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Bursts of sibling prompts: many prompts at nearly the same time that share a long prefix and part
 * from it, half of them at its end and half anywhere in its last quarter.
 *
 * <p>Every other burst takes up the prefix of an earlier one.
 *
 * @param requests how many
 * @param seed of all random choices
 */
record SiblingBursts(int requests, long seed) {

  private static final double SECONDS_BETWEEN_BURSTS = 5;
  private static final int MAX_PREFIX_BLOCKS = 384;
  private static final int MAX_SUFFIX_BLOCKS = 24;
  private static final int MAX_SIBLINGS = 96;

  Trace trace() {
    Random random = new Random(seed);
    PromptTrace trace = new PromptTrace();
    List<int[]> prefixes = new ArrayList<>();
    double seconds = 0;
    int left = requests;
    while (left > 0) {
      int[] prefix = prefix(prefixes, trace, random);
      int siblings = Math.min(left, 16 + random.nextInt(MAX_SIBLINGS - 16));
      for (int i = 0; i < siblings; i++) {
        int[] shared = random.nextBoolean() ? prefix : cut(prefix, random);
        trace.request(
            seconds + i * 1e-3, trace.grow(shared, 1 + random.nextInt(MAX_SUFFIX_BLOCKS)));
      }
      left -= siblings;
      seconds += SECONDS_BETWEEN_BURSTS;
    }
    return trace.build();
  }

  private static int[] prefix(List<int[]> prefixes, PromptTrace trace, Random random) {
    if (!prefixes.isEmpty() && random.nextBoolean()) {
      return prefixes.get(random.nextInt(prefixes.size()));
    }
    int[] prefix = trace.grow(new int[0], 16 + random.nextInt(MAX_PREFIX_BLOCKS - 16));
    prefixes.add(prefix);
    return prefix;
  }

  private static int[] cut(int[] prefix, Random random) {
    return Arrays.copyOf(prefix, prefix.length - 1 - random.nextInt(prefix.length / 4));
  }
}
