package dev.warmpath.simulator.bench.generate.fleet;

/**
 * The hashes by which blocks are known: splitmix64 of the block's number, with different seeds for
 * local and engine hashes. Never 0.
 *
 * <p>Immutable.
 *
 * @param own whether each engine has its own engine hashes
 */
record HashNames(boolean own) {

  private static final long ENGINE_SEED = 0x1111;
  private static final long LOCAL_SEED = 0x2222;

  long engineHash(int engine, int block) {
    return mix(block, own ? ENGINE_SEED + (engine + 1L) * 0xD1B54A32D192ED03L : ENGINE_SEED);
  }

  long localHash(int block) {
    return mix(block, LOCAL_SEED);
  }

  private static long mix(long number, long seed) {
    long x = number + seed + 0x9E3779B97F4A7C15L;
    x = (x ^ x >>> 30) * 0xBF58476D1CE4E5B9L;
    x = (x ^ x >>> 27) * 0x94D049BB133111EBL;
    x ^= x >>> 31;
    return x == 0 ? 1 : x;
  }
}
