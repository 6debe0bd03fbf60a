package dev.warmpath.simulator.fleet;

import dev.warmpath.router.dispatch.UncachedTokens;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * What became of each request of one run, in columns.
 *
 * <p>Single writer.
 */
public final class Measures {

  private static final float NEVER = Float.NaN;

  private final double[] arrivedSeconds;
  private final float[] firstMillis;
  private final float[] tokenMillis;
  private final int[] promptTokens;
  private final int[] cachedTokens;
  private final int[] hostTokens;
  private final float[] loadMillis;
  private final int[] predictedTokens;
  private final @Nullable UncachedTokens[] uncachedTokens;
  private final int[] engine;
  private final float[] answeredMillis;
  private final boolean[] split;
  private final boolean[] rejected;

  Measures(int requests) {
    arrivedSeconds = new double[requests];
    Arrays.fill(arrivedSeconds, Double.NaN);
    firstMillis = new float[requests];
    Arrays.fill(firstMillis, NEVER);
    tokenMillis = new float[requests];
    Arrays.fill(tokenMillis, NEVER);
    promptTokens = new int[requests];
    cachedTokens = new int[requests];
    hostTokens = new int[requests];
    loadMillis = new float[requests];
    predictedTokens = new int[requests];
    uncachedTokens = new UncachedTokens[requests];
    engine = new int[requests];
    answeredMillis = new float[requests];
    Arrays.fill(answeredMillis, NEVER);
    split = new boolean[requests];
    rejected = new boolean[requests];
  }

  void arrived(int request, double seconds, int prompt) {
    arrivedSeconds[request] = seconds;
    promptTokens[request] = prompt;
  }

  void assigned(int request, int number, int predicted, boolean isSplit) {
    engine[request] = number;
    split[request] = isSplit;
    predictedTokens[request] = predicted;
  }

  void first(int request, double millis, int cached, int host, double load) {
    firstMillis[request] = (float) millis;
    cachedTokens[request] = cached;
    hostTokens[request] = host;
    loadMillis[request] = (float) load;
  }

  /** Why what was computed of its prompt was not cached; null if nothing was predicted. */
  void uncached(int request, @Nullable UncachedTokens tokens) {
    uncachedTokens[request] = tokens;
  }

  /** Its answer of so many tokens ended, so long after its first one. */
  void ended(int request, double millis, int tokens) {
    tokenMillis[request] = (float) (millis / Math.max(1, tokens - 1));
    answeredMillis[request] = (float) (firstMillis[request] + millis);
  }

  void rejected(int request) {
    rejected[request] = true;
  }

  /** How many requests there were, arrived or not. */
  public int requests() {
    return promptTokens.length;
  }

  /** When it arrived; NaN if it never did. */
  public double arrivedSeconds(int request) {
    return arrivedSeconds[request];
  }

  /** Time to first token; NaN if there was none. */
  public double firstMillis(int request) {
    return firstMillis[request];
  }

  /** Mean time between two tokens of its answer; NaN if there were no two. */
  public double tokenMillis(int request) {
    return tokenMillis[request];
  }

  /** From its arrival to the last token of its answer; NaN if there was none. */
  public double answeredMillis(int request) {
    return answeredMillis[request];
  }

  /** Whether one engine computed its prompt and another one its answer. */
  public boolean isSplit(int request) {
    return split[request];
  }

  public int promptTokens(int request) {
    return promptTokens[request];
  }

  /** Tokens that its engine did not compute. */
  public int cachedTokens(int request) {
    return cachedTokens[request];
  }

  /** Those of the {@link #cachedTokens} that its engine loaded from host memory. */
  public int hostTokens(int request) {
    return hostTokens[request];
  }

  /** How long it waited until they were loaded. */
  public double loadMillis(int request) {
    return loadMillis[request];
  }

  /** Tokens that the router had predicted for its engine, or negative for no prediction. */
  public int predictedTokens(int request) {
    return predictedTokens[request];
  }

  /** Why what its engine computed was not cached; null if nothing was predicted. */
  public @Nullable UncachedTokens uncachedTokens(int request) {
    return uncachedTokens[request];
  }

  /** Which engine computed its prompt, from 0 on. */
  public int engine(int request) {
    return engine[request];
  }

  public boolean isRejected(int request) {
    return rejected[request];
  }
}
