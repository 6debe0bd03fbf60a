package dev.warmpath.simulator.engine;

/**
 * A step that takes longer in proportion to what it computes.
 *
 * @param baseMillis each step
 * @param prefillTokenMillis each prompt token computed
 * @param attentionMillis each pair of a prompt token computed and a context token it attends to
 * @param decodeContextMillis each context token of a sequence that decodes
 */
public record StepCost(
    double baseMillis,
    double prefillTokenMillis,
    double attentionMillis,
    double decodeContextMillis)
    implements CostModel {

  /** A 70B-like model on four H100. */
  public static final StepCost H100X4 = new StepCost(15, 0.07, 2e-6, 3.4e-5);

  public StepCost {
    if (!(baseMillis >= 0)
        || !(prefillTokenMillis >= 0)
        || !(attentionMillis >= 0)
        || !(decodeContextMillis >= 0)) {
      throw new IllegalArgumentException("negative cost");
    }
  }

  @Override
  public double stepMillis(StepWork work) {
    return baseMillis
        + prefillTokenMillis * work.prefillTokens()
        + attentionMillis * work.attentionPairs()
        + decodeContextMillis * work.decodeContextTokens();
  }
}
