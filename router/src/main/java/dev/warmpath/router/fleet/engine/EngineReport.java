package dev.warmpath.router.fleet.engine;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;

/**
 * One engine as the dispatcher sees it.
 *
 * <p>Immutable.
 *
 * @param engine its name
 * @param handedOver requests whose prompt it computed for another one, or got from another one
 * @param state what the router remembers of it
 */
public record EngineReport(
    Replica replica,
    int dpRank,
    String engine,
    EngineView view,
    long handedOver,
    EngineState.Snapshot state) {

  /** The same for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.ENGINE_EJECTED, state.ejected() ? 1 : 0, engine);
    to.add(Metric.ENGINE_REFUSING, state.refusing() ? 1 : 0, engine);
    to.add(Metric.ENGINE_REQUESTS_IN_FLIGHT, state.load().requestsInFlight(), engine);
    to.add(Metric.ENGINE_QUEUED_PREFILL_TOKENS, state.load().queuedPrefillTokens(), engine);
    OtherLoad others = replica.otherLoad(dpRank);
    to.add(Metric.ENGINE_OTHER_REQUESTS, others.running(), engine, "running");
    to.add(Metric.ENGINE_OTHER_REQUESTS, others.waiting(), engine, "waiting");
    ExpectedBlocks.Counts expected = state.expectedBlocks();
    to.add(Metric.EXPECTED_BLOCKS, expected.expected(), engine);
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.confirmed(), engine, "confirmed");
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.expired(), engine, "expired");
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.cancelled(), engine, "cancelled");
    to.add(Metric.EXPECTED_BLOCKS_ENDED_TOTAL, expected.dropped(), engine, "dropped");
  }
}
