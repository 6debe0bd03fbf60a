package dev.warmpath.router.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One engine as the dispatcher sees it.
 *
 * <p>Immutable.
 *
 * @param engine its name
 * @param handedOver requests whose prompt it computed for another one, or got from another one
 * @param worth what would be lost with it, as it was found last; null if that is not known
 * @param state what the router remembers of it
 */
public record EngineReport(
    Replica replica,
    int dpRank,
    String engine,
    EngineView view,
    long handedOver,
    @Nullable CacheWorth worth,
    EngineState.Snapshot state) {

  /**
   * The replicas among these that are prefills or decodes, and have nobody of their model to share
   * its requests with.
   */
  public static Set<Replica> unpaired(List<EngineReport> all) {
    Set<Replica> unpaired = new LinkedHashSet<>();
    for (EngineReport one : all) {
      if (one.replica.transfer().role() != KvTransfer.Role.BOTH
          && all.stream().noneMatch(other -> one.reaches(other) || other.reaches(one))) {
        unpaired.add(one.replica);
      }
    }
    return unpaired;
  }

  private boolean reaches(EngineReport other) {
    return replica != other.replica
        && replica.transfer().reaches(other.replica.transfer())
        && mayBePaired(view.space(), other.view.space())
        && (!replica.namesModels()
            || !other.replica.namesModels()
            || !Collections.disjoint(replica.models(), other.replica.models()));
  }

  /** Whether blocks of one engine are none of unequal size at the other; unknown ones may fit. */
  public static boolean mayBePaired(@Nullable ChainSpace here, @Nullable ChainSpace there) {
    return here == null || there == null || here.blockSizeTokens() == there.blockSizeTokens();
  }

  /** The same for a scrape. */
  public void collect(MetricValues to) {
    to.add(Metric.ENGINE_EJECTED, state.ejected() ? 1 : 0, engine);
    to.add(Metric.ENGINE_REFUSING, state.refusing() ? 1 : 0, engine);
    to.add(Metric.ENGINE_REQUESTS_IN_FLIGHT, state.load().requestsInFlight(), engine);
    to.add(Metric.ENGINE_QUEUED_PREFILL_TOKENS, state.load().queuedPrefillTokens(), engine);
    to.add(Metric.ENGINE_QUEUED_SECONDS, state.load().queuedPrefillMillis() / 1e3, engine);
    if (state.decodeSamples() > 0) {
      double stepMillis = state.decodeCost().millis(state.load().contextTokens());
      to.add(Metric.ENGINE_STEP_SECONDS, stepMillis / 1e3, engine);
    }
    if (worth != null) {
      to.add(Metric.ENGINE_SOLE_TOKENS, worth.soleTokens(), engine);
      to.add(Metric.ENGINE_WORTH_SECONDS, worth.seconds(), engine);
    }
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
