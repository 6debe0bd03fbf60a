package dev.warmpath.router.proxy.usage;

/**
 * What an engine said about the prompt of a request that it has answered.
 *
 * <p>Immutable.
 *
 * @param promptTokens length of the prompt, or {@link #ABSENT}
 * @param cachedTokens how many of them it did not compute again, or {@link #ABSENT}
 */
public record Usage(int promptTokens, int cachedTokens) {

  /** The figure was not in the response. */
  public static final int ABSENT = -1;

  static final Usage NONE = new Usage(ABSENT, ABSENT);

  /** Whether the engine reported cached tokens. */
  public boolean tellsCachedTokens() {
    return cachedTokens != ABSENT;
  }
}
