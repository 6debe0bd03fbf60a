package dev.warmpath.simulator.cli;

/**
 * How many prompts were compared with the engine's own tokens, and how that went.
 *
 * @param exact equal to the last token
 * @param wrong rendered here, and not equal
 * @param inexact not rendered here, with a cause
 */
public record RenderTotals(int exact, int wrong, int inexact) {

  /** Nothing compared yet. */
  public static final RenderTotals NONE = new RenderTotals(0, 0, 0);

  /** All prompts that were looked at. */
  public int total() {
    return exact + wrong + inexact;
  }

  /** Both together. */
  public RenderTotals plus(RenderTotals other) {
    return new RenderTotals(exact + other.exact, wrong + other.wrong, inexact + other.inexact);
  }

  /** The totals as one JSON object. */
  public String json() {
    return "{\"total\":%d,\"exact\":%d,\"wrong\":%d,\"inexact\":%d}"
        .formatted(total(), exact, wrong, inexact);
  }
}
