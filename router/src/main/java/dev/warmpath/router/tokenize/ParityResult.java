package dev.warmpath.router.tokenize;

import java.util.Locale;

/**
 * What one comparison with an engine came to.
 *
 * <p>Immutable.
 */
public enum ParityResult {
  /** The same tokens. */
  EQUAL,
  /** Other tokens, and so said a second answer. */
  DIFFERENT,
  /** Other tokens, but a second answer was not so. */
  UNCONFIRMED,
  /** The prompt is not known here, or the engine refuses it. */
  UNKNOWN,
  /** The engine has no way to be asked. */
  UNAVAILABLE,
  /** No answer, or nonsense. */
  ERROR,
  /** Too many comparisons waited. */
  SKIPPED;

  /** The name in metrics and answers. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
