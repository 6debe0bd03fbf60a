package dev.warmpath.simulator.fault;

import dev.warmpath.eventingest.StreamCounter;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/**
 * How a fault shows in the metrics. Immutable.
 *
 * @param name for the page
 * @param value what is counted on a rig
 */
record Counted(Function<FaultRig, String> name, ToLongFunction<FaultRig> value) {

  /** By a counter of the engine's stream. */
  static Counted by(StreamCounter counter) {
    return new Counted(rig -> "`" + counter.label() + "`", rig -> rig.count(counter));
  }

  /** By hits that came short, where an {@code extra_key} does not show. */
  static Counted shortHits() {
    return new Counted(
        rig -> counter(rig).label().replaceAll(".+", "`$0`"), rig -> rig.count(counter(rig)));
  }

  private static StreamCounter counter(FaultRig rig) {
    return rig.hidesNamespaces() ? StreamCounter.SHORT_HITS : StreamCounter.BLOCKS_STORED;
  }

  /** By announcements that are not of blocks held once: copies, or said twice. */
  static Counted copies() {
    return new Counted(
        rig -> "`blocks_stored` beyond `index_blocks{held}`",
        rig ->
            rig.count(StreamCounter.BLOCKS_STORED)
                - rig.count(StreamCounter.BLOCKS_REMOVED)
                - rig.stats().heldBlocks());
  }

  /** By what became of the engine that a snapshot knew. */
  static Counted fate() {
    return new Counted(
        rig -> "`recovery_engines{" + rig.fate().label() + "}`", rig -> rig.fates().size());
  }
}
