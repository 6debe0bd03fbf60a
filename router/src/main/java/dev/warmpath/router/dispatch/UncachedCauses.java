package dev.warmpath.router.dispatch;

import dev.warmpath.router.dispatch.UncachedTokens.Cause;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * For each token of a prompt why it would not be cached if it is not, as things stood when an
 * engine was chosen.
 *
 * <p>Immutable.
 *
 * @param parts of the prompt, in order; what lies behind them is {@link Cause#NEW}
 */
public record UncachedCauses(List<Part> parts) {

  /*
   *   0 ─────────── predicted ───────── longest match ────────── known ────────── prompt's end
   *    mispredicted │     elsewhere     │   evicted or lost      │      new       │
   *                           ▲
   *                    reported cached: what lies behind it is uncached, and counts by its part
   *
   * So the five always add up, and an engine that reuses more than was predicted takes tokens off
   * the causes in the order in which they lie.
   */

  /** The tokens up to {@code endTokens}, from the last part's end on. */
  public record Part(int endTokens, Cause cause) {}

  public UncachedCauses {
    parts = List.copyOf(parts);
  }

  /**
   * Why the tokens behind the cached ones were not cached.
   *
   * @param promptTokens the prompt's length
   * @param cachedTokens how many of them the engine did not compute
   */
  public UncachedTokens of(int promptTokens, int cachedTokens) {
    Map<Cause, Integer> tokens = new EnumMap<>(Cause.class);
    int from = Math.max(0, Math.min(cachedTokens, promptTokens));
    for (Part part : parts) {
      int end = Math.min(part.endTokens, promptTokens);
      if (end > from) {
        tokens.merge(part.cause, end - from, Integer::sum);
        from = end;
      }
    }
    if (promptTokens > from) {
      tokens.merge(Cause.NEW, promptTokens - from, Integer::sum);
    }
    return new UncachedTokens(tokens);
  }

  /** Collects the parts from a prompt's begin on. */
  static final class Builder {
    private final List<Part> parts = new ArrayList<>(4);
    private int end;

    int end() {
      return end;
    }

    /** Tokens up to there are of this cause, unless they are of one already. */
    Builder until(int endTokens, Cause cause) {
      if (endTokens > end) {
        int last = parts.size() - 1;
        if (last >= 0 && parts.get(last).cause == cause) {
          parts.remove(last);
        }
        parts.add(new Part(endTokens, cause));
        end = endTokens;
      }
      return this;
    }

    UncachedCauses build() {
      return new UncachedCauses(parts);
    }
  }
}
