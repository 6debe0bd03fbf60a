package dev.warmpath.router.dispatch;

import java.util.Locale;

/**
 * How many tokens of its prompt the engine will say that it had cached, from what the index holds
 * as confirmed.
 *
 * <p>Immutable.
 *
 * @param cachedTokens the number, or {@link #NONE}
 * @param basis where it comes from, or why there is none
 */
public record Prediction(int cachedTokens, Basis basis) {

  /** The {@link #cachedTokens} when nothing is predicted. */
  public static final int NONE = -1;

  /** Where a prediction comes from, or why there is none. */
  public enum Basis {
    /** The index, which is exact for this engine. */
    INDEX(true),
    /** The request does not read the cache. */
    READS_NO_CACHE(true),
    /** The prompt's tokens are not known. */
    PROMPT_UNKNOWN(false),
    /** The engine's figure does not speak about one known sequence. */
    NOT_COMPARABLE(false),
    /** The engine has announced nothing yet, or nobody listens. */
    NO_EVENTS(false),
    /** The index is not exact for this engine now. */
    NOT_TRUSTED(false);

    private final boolean predicts;

    Basis(boolean predicts) {
      this.predicts = predicts;
    }

    /** The name in metrics and answers: lower case with underscores. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public Prediction {
    if (basis.predicts ? cachedTokens < 0 : cachedTokens != NONE) {
      throw new IllegalArgumentException("cachedTokens=" + cachedTokens + " basis=" + basis);
    }
  }

  static Prediction none(Basis basis) {
    return new Prediction(NONE, basis);
  }

  /** Whether there is a number to compare with the engine's. */
  public boolean predicts() {
    return basis.predicts;
  }
}
