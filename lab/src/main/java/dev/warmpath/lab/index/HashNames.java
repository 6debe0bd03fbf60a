package dev.warmpath.lab.index;

import java.util.SplittableRandom;

/**
 * The hashes that follow from the name of a block, with different seeds for local and engine
 * hashes. Never 0.
 *
 * @param own whether each engine has its own engine hashes
 */
public record HashNames(boolean own) {

  private static final long ENGINE_SEED = 0x1111;
  private static final long LOCAL_SEED = 0x2222;

  public long engineHash(int engine, long name) {
    return mixed(name + (own ? ENGINE_SEED + (engine + 1L) * 0xD1B54A32D192ED03L : ENGINE_SEED));
  }

  public long localHash(long name) {
    return mixed(name + LOCAL_SEED);
  }

  /** A number that looks random; different ones for different numbers, but for two of them. */
  public static long mixed(long number) {
    long mixed = new SplittableRandom(number).nextLong();
    return mixed == 0 ? 1 : mixed;
  }
}
