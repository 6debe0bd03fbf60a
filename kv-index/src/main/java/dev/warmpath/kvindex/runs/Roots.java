package dev.warmpath.kvindex.runs;

import java.util.Arrays;

/** Root key → the empty run below which all prompts of a space begin; few, so they are scanned. */
public final class Roots {

  public static final Roots NONE = new Roots(new long[0], new int[0]);

  private final long[] keys;
  private final int[] runs;

  private Roots(long[] keys, int[] runs) {
    this.keys = keys;
    this.runs = runs;
  }

  /** The run of a root key, or 0. */
  public int run(long rootKey) {
    for (int i = 0; i < keys.length; i++) {
      if (keys[i] == rootKey) {
        return runs[i];
      }
    }
    return 0;
  }

  public int size() {
    return keys.length;
  }

  public int runAt(int index) {
    return runs[index];
  }

  public long keyAt(int index) {
    return keys[index];
  }

  public Roots with(long rootKey, int run) {
    long[] moreKeys = Arrays.copyOf(keys, keys.length + 1);
    int[] moreRuns = Arrays.copyOf(runs, runs.length + 1);
    moreKeys[keys.length] = rootKey;
    moreRuns[runs.length] = run;
    return new Roots(moreKeys, moreRuns);
  }

  public Roots without(int run) {
    int at = 0;
    while (runs[at] != run) {
      at++;
    }
    long[] fewerKeys = Arrays.copyOf(keys, keys.length - 1);
    int[] fewerRuns = Arrays.copyOf(runs, runs.length - 1);
    for (int i = at; i < fewerKeys.length; i++) {
      fewerKeys[i] = keys[i + 1];
      fewerRuns[i] = runs[i + 1];
    }
    return new Roots(fewerKeys, fewerRuns);
  }
}
