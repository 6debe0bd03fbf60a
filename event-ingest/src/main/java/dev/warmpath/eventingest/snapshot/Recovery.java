package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.EngineId;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How far a process has come in finding out which of its predecessor's knowledge is still true.
 *
 * <p>Thread-safe.
 */
public final class Recovery {

  private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

  private final LongSupplier nanoClock;
  private final long beganNanos;
  private final Map<EngineFate, Integer> engines = new EnumMap<>(EngineFate.class);
  private long savedBlocks;
  private long keptBlocks;
  private long endedNanos;

  /** How it stands. */
  public record Report(Map<EngineFate, Integer> engines, double share, double seconds) {

    /** Whether there was a snapshot. */
    public boolean begun() {
      return !engines.isEmpty();
    }

    /** Whether all engines are decided. */
    public boolean over() {
      return engines.getOrDefault(EngineFate.WAITING, 0) == 0;
    }
  }

  /** Begins now. */
  public Recovery(LongSupplier nanoClock) {
    this.nanoClock = nanoClock;
    beganNanos = nanoClock.getAsLong();
    endedNanos = beganNanos;
  }

  /** Engines by fate; the part of the snapshot's named blocks that was shown to be true; time. */
  public synchronized Report report() {
    boolean waits = engines.getOrDefault(EngineFate.WAITING, 0) > 0;
    long until = waits ? nanoClock.getAsLong() : endedNanos;
    double share = savedBlocks == 0 ? 1 : (double) keptBlocks / savedBlocks;
    return new Report(Map.copyOf(engines), share, (until - beganNanos) / 1e9);
  }

  /** Time until now, in seconds. */
  public double sinceItBeganSeconds() {
    return (nanoClock.getAsLong() - beganNanos) / 1e9;
  }

  /** The engine was restored and has to be shown to be the same. */
  synchronized void waits(EngineSnapshot snapshot) {
    savedBlocks += snapshot.namedBlocks();
    engines.merge(EngineFate.WAITING, 1, Integer::sum);
  }

  /** The engine was not restored. */
  synchronized void refused(EngineSnapshot snapshot, EngineFate fate) {
    savedBlocks += snapshot.namedBlocks();
    engines.merge(fate, 1, Integer::sum);
    if (fate != EngineFate.UNKNOWN) {
      log(snapshot.identity().id(), fate, "");
    }
  }

  /** An engine that waited was decided. */
  synchronized void decided(EngineId id, EngineFate fate, String why, long restoredBlocks) {
    engines.computeIfPresent(EngineFate.WAITING, (waiting, n) -> n == 1 ? null : n - 1);
    engines.merge(fate, 1, Integer::sum);
    if (fate == EngineFate.KEPT) {
      keptBlocks += restoredBlocks;
    } else if (fate == EngineFate.SUSPENDED) {
      LOG.info(
          "engine={} goes on with {} names that are to be confirmed: {}", id, restoredBlocks, why);
    } else {
      log(id, fate, why);
    }
    endedNanos = nanoClock.getAsLong();
    Report report = report();
    if (report.over()) {
      LOG.info(
          "recovered {} of {} blocks of the snapshot, {} s after its reading began; engines {}",
          keptBlocks,
          savedBlocks,
          report.seconds(),
          engines);
    }
  }

  private static void log(EngineId id, EngineFate fate, String why) {
    LOG.warn("engine={} is forgotten and learned anew: {} {}", id, fate.label(), why);
  }
}
