package dev.warmpath.simulator.engine;

/**
 * How long a step takes for its work.
 *
 * <p>Thread-safe: the same work takes the same time, always.
 */
@FunctionalInterface
public interface CostModel {

  /** The duration of one step, in milliseconds. */
  double stepMillis(StepWork work);
}
