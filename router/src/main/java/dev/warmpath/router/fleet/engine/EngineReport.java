package dev.warmpath.router.fleet.engine;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.routing.Load;
import dev.warmpath.router.routing.PrefillCost;

/**
 * One engine as the dispatcher sees it.
 *
 * <p>Immutable.
 *
 * @param engine its name
 * @param state what the router remembers of it
 */
public record EngineReport(
    Replica replica, int dpRank, String engine, EngineView view, EngineState.Snapshot state) {

  public Load load() {
    return state.load();
  }

  public ExpectedBlocks.Counts expectedBlocks() {
    return state.expectedBlocks();
  }

  public PrefillCost prefillCost() {
    return state.prefillCost();
  }

  /** Requests from which {@link #prefillCost} was learned. */
  public long prefillSamples() {
    return state.prefillSamples();
  }

  /** Whether it gets requests after its failures. */
  public Ejection.Circuit circuit() {
    return state.circuit();
  }

  /** Whether it failed too often just now to be taken. */
  public boolean ejected() {
    return state.ejected();
  }
}
