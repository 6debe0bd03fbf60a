package dev.warmpath.router.fleet.engine;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.router.fleet.Replica;

/**
 * One engine as the dispatcher sees it.
 *
 * <p>Immutable.
 *
 * @param engine its name
 * @param state what the router remembers of it
 */
public record EngineReport(
    Replica replica, int dpRank, String engine, EngineView view, EngineState.Snapshot state) {}
