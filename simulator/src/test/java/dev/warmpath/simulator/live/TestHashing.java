package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import java.util.Map;

/** The live engines' hashes for tests of other packages. */
public final class TestHashing {

  private TestHashing() {}

  public static BlockHashing of(
      HashAlgorithm algorithm, int blockSizeTokens, Map<String, String> adapters) {
    return new BlockHashing.Vllm(algorithm, blockSizeTokens, adapters);
  }
}
