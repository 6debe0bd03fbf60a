package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.engine.ExpectedBlocks;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;

/**
 * One engine as the dispatcher sees it.
 *
 * <p>Immutable.
 *
 * @param engine its name
 * @param prefillSamples requests from which {@code prefillCost} was learned
 * @param suspended whether it failed too often just now to be taken
 */
public record EngineReport(
    Replica replica,
    int dpRank,
    String engine,
    EngineView view,
    Load load,
    ExpectedBlocks.Counts expectedBlocks,
    PrefillCost prefillCost,
    long prefillSamples,
    boolean suspended) {

  static EngineReport of(EngineState state, EngineView view, long nowNanos) {
    return new EngineReport(
        state.replica(),
        state.dpRank(),
        state.name(),
        view,
        state.load().snapshot(nowNanos),
        state.expected().counts(nowNanos),
        state.prefill().cost(),
        state.prefill().samples(),
        state.suspension().active(nowNanos));
  }
}
