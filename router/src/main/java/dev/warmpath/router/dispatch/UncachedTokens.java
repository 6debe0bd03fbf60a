package dev.warmpath.router.dispatch;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * Prompt tokens that an engine computed, by why they were not cached. They add up to the prompt's
 * tokens without the cached ones.
 *
 * <p>Immutable.
 */
public record UncachedTokens(Map<Cause, Integer> byCause) {

  /** Why tokens were not cached. */
  public enum Cause {
    /** Predicted as cached, and computed all the same. */
    MISPREDICTED,
    /** Held, but not where the engine could use it: by another one, or in unread slower memory. */
    ELSEWHERE,
    /** Held once; the engine that computed them last has dropped them since. */
    EVICTED,
    /** Held once; the engine that computed them last has lost all it held since. */
    LOST,
    /** Not known to have been held, or at a prompt's end, which is always computed. */
    NEW;

    private final String label = name().toLowerCase(Locale.ROOT);

    /** The name in metrics and answers. */
    public String label() {
      return label;
    }
  }

  /** Causes without tokens are left out. */
  public UncachedTokens {
    byCause = Map.copyOf(byCause);
  }

  /** Tokens for this cause. */
  public int of(Cause cause) {
    return byCause.getOrDefault(cause, 0);
  }

  /** All of them. */
  public int total() {
    return byCause.values().stream().mapToInt(tokens -> tokens).sum();
  }

  /** By the causes' labels, in the order in which they lie in a prompt. */
  public Map<String, Integer> byLabel() {
    Map<String, Integer> labelled = new LinkedHashMap<>();
    for (Cause cause : Cause.values()) {
      if (of(cause) > 0) {
        labelled.put(cause.label(), of(cause));
      }
    }
    return labelled;
  }
}
