package dev.warmpath.router.proxy;

import dev.warmpath.router.fleet.EngineMeters;

/**
 * What an engine said about the tokens of a request that it has answered.
 *
 * <p>Immutable.
 *
 * @param promptTokens length of the prompt, or {@link #ABSENT}
 * @param cachedTokens how many of them it did not compute again, or {@link #ABSENT}
 * @param answerTokens length of the answer, or {@link #ABSENT}
 */
public record Usage(int promptTokens, int cachedTokens, int answerTokens) {

  /** The figure was not in the response. */
  public static final int ABSENT = EngineMeters.ABSENT;

  /** Nothing was said. */
  public static final Usage NONE = new Usage(ABSENT, ABSENT, ABSENT);

  /** Whether the engine reported cached tokens. */
  public boolean tellsCachedTokens() {
    return cachedTokens != ABSENT;
  }

  /** What is known when the engine said {@code later} too; what that leaves out stays. */
  Usage then(Usage later) {
    boolean tellsPrompt = later.promptTokens != ABSENT || later.cachedTokens != ABSENT;
    Usage prompt = tellsPrompt ? later : this;
    int answer = later.answerTokens == ABSENT ? answerTokens : later.answerTokens;
    return new Usage(prompt.promptTokens, prompt.cachedTokens, answer);
  }
}
