package dev.warmpath.router;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineStatus;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.Handover;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.eventingest.snapshot.SnapshotDirectory;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.snapshot.SnapshotException.Reason;
import dev.warmpath.router.cluster.SeedDonor;
import dev.warmpath.router.cluster.WarmStart;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a router starts with: the directory of its snapshots, and an index that an earlier process's
 * snapshot is read into, on a thread of its own.
 *
 * <p>Thread-safe.
 */
public final class RestoredState {

  private static final Logger LOG = LoggerFactory.getLogger(RestoredState.class);
  private static final long BYTES_PER_MB = 1 << 20;

  private final RunKvIndex index;
  private final CompletableFuture<RestoredEngines> engines = new CompletableFuture<>();
  private final Recovery recovery;
  private final RouterConfig.Snapshot config;
  private final Clock clock;
  private final @Nullable SnapshotDirectory directory;

  private RestoredState(
      IndexLimits limits,
      RouterConfig.Snapshot config,
      Clock clock,
      LongSupplier nanoClock,
      @Nullable SnapshotDirectory directory) {
    this.config = config;
    this.clock = clock;
    this.recovery = new Recovery(nanoClock);
    this.index = new RunKvIndex(limits);
    this.directory = directory;
  }

  /**
   * Takes the directory. If another router has it, such as the one that this one replaces, this one
   * reads what is there all the same. Nothing is read before {@link #readDirectory}, or a neighbour
   * gives something newer to {@link #graft}.
   *
   * @param usual where to keep snapshots if the configuration does not say; null for nowhere. If
   *     that fails there are none; a configured directory must be there
   */
  public static RestoredState open(
      RouterConfig.Snapshot config,
      @Nullable Path usual,
      IndexLimits limits,
      Clock clock,
      LongSupplier nanoClock)
      throws IOException {
    SnapshotDirectory directory = config.enabled() ? open(config, usual) : null;
    return new RestoredState(limits, config, clock, nanoClock, directory);
  }

  /** Begins to read the newest snapshot of the directory that can be used. */
  public void readDirectory() {
    SnapshotDirectory from = directory;
    if (from == null || from.snapshots().isEmpty()) {
      goOn(null);
    } else {
      IngestSnapshot.Bounds bounds =
          new IngestSnapshot.Bounds(
              maxBytes(config), Duration.ofMillis(config.maxAgeMs()), clock.instant());
      Thread thread = new Thread(() -> read(from, bounds), "warmpath-snapshot-reader");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private void read(SnapshotDirectory from, IngestSnapshot.Bounds bounds) {
    IngestSnapshot read = null;
    try {
      read = from.read(index, bounds);
      if (read != null) {
        LOG.info("snapshot of {} read in {} s", read.taken(), recovery.sinceItBeganSeconds());
      } else if (!from.refused().isEmpty()) {
        LOG.warn("no snapshot can be used: the index starts empty, and engines are learned anew");
      }
    } finally {
      goOn(read);
    }
  }

  private void goOn(@Nullable IngestSnapshot read) {
    engines.complete(new RestoredEngines(index, read, recovery));
  }

  /** Has no engines, and is not to be written, until {@link #engines} are there. */
  public RunKvIndex index() {
    return index;
  }

  /**
   * What the earlier process knew beside the index, when it was read; the ingest's from then on.
   */
  public CompletableFuture<RestoredEngines> engines() {
    return engines;
  }

  /** How far it has come. */
  public Recovery recovery() {
    return recovery;
  }

  /** Null if nothing is to be kept. */
  public @Nullable SnapshotDirectory directory() {
    return directory;
  }

  /**
   * What becomes of a neighbour's snapshot; where none comes, the directory is read after all.
   *
   * @param ingest holds what it hears until {@link #engines} are there
   * @param ended hears how it ended
   */
  public WarmStart.Graft graft(EventIngest ingest, Consumer<WarmStart.Outcome> ended) {
    return new WarmStart.Graft() {
      @Override
      public int listening() {
        List<EventIngest.Heard> heard = ingest.heard();
        return heard.stream().allMatch(EventIngest.Heard::connected) ? heard.size() : 0;
      }

      @Override
      public WarmStart.Fit judge(InputStream snapshot) throws IOException {
        return fit(IngestSnapshot.readStreams(snapshot, neighbours()), ingest.heard());
      }

      @Override
      public void take(InputStream snapshot) throws IOException {
        goOn(IngestSnapshot.readFrom(snapshot, index, neighbours()));
      }

      @Override
      public void ended(WarmStart.Outcome outcome) {
        if (outcome != WarmStart.Outcome.SEEDED) {
          readDirectory();
        }
        ended.accept(outcome);
      }
    };
  }

  /** It was written a moment ago, whatever its clock says. */
  private IngestSnapshot.Bounds neighbours() {
    return new IngestSnapshot.Bounds(
        maxBytes(config), Duration.ofMillis(Long.MAX_VALUE), clock.instant());
  }

  private static WarmStart.Fit fit(IngestSnapshot snapshot, List<EventIngest.Heard> heard) {
    Map<EngineId, Long> first = new HashMap<>();
    heard.forEach(each -> first.put(each.id(), each.firstSequence()));
    int gaps = 0;
    long fittingBlocks = 0;
    for (EngineSnapshot engine : snapshot.engines()) {
      StreamSnapshot stream = engine.stream();
      long held = first.getOrDefault(engine.identity().id(), -1L);
      if (stream != null && held > stream.lastSequence()) { // the next number proves nothing
        gaps++;
      } else if (stream != null) {
        fittingBlocks += engine.namedBlocks();
      }
    }
    return new WarmStart.Fit(gaps, fittingBlocks);
  }

  /**
   * What this process can give to a neighbour that starts.
   *
   * @param ready whether it is ready itself
   */
  public SeedDonor.Source source(
      EventIngest ingest, BooleanSupplier ready, LongSupplier nanoClock) {
    return new SeedDonor.Source() {
      @Override
      public SeedDonor.Stock stock() {
        int exact = 0;
        long blocks = 0;
        for (EngineStatus engine : ingest.status()) {
          exact += engine.trust() == Trust.EXACT ? 1 : 0;
          blocks += namedBlocks(engine.slot());
        }
        return new SeedDonor.Stock(ready.getAsBoolean() && engines.isDone(), exact, blocks);
      }

      @Override
      public long writeTo(OutputStream out) throws IOException {
        Handover handover =
            new Handover(nanoClock, TimeUnit.MILLISECONDS.toNanos(config.maxPauseMs()));
        SnapshotKeeper.write(ingest, index, maxBytes(config), handover, out);
        return handover.tookNanos();
      }
    };
  }

  private long namedBlocks(int slot) {
    try {
      return slot < 0 ? 0 : index.stats(slot).namedBlocks();
    } catch (IllegalArgumentException e) {
      return 0; // it left the fleet between two looks
    }
  }

  /** Begins to keep snapshots of what {@code ingest} writes; null if nothing is to be kept. */
  public @Nullable SnapshotKeeper keep(
      EventIngest ingest, RouterConfig.Snapshot config, LongSupplier nanoClock) {
    return directory == null
        ? null
        : new SnapshotKeeper(directory, ingest, index, config, nanoClock);
  }

  /** Gives the directory to whoever wants it next. */
  public void leaveDirectory() {
    if (directory != null) {
      directory.close();
    }
  }

  /** What was refused, and how far the recovery has come, for a scrape. */
  public void collect(MetricValues to) {
    Map<Reason, Integer> counts = directory == null ? Map.of() : directory.refused();
    for (Reason reason : Reason.values()) {
      to.add(Metric.SNAPSHOTS_REFUSED_TOTAL, counts.getOrDefault(reason, 0), reason.label());
    }
    Recovery.Report report = recovery.report();
    if (report.begun()) {
      report
          .engines()
          .forEach((fate, count) -> to.add(Metric.RECOVERY_ENGINES, count, fate.label()));
      to.add(Metric.RECOVERY_SHARE, report.share());
      to.add(Metric.RECOVERY_SECONDS, report.seconds());
    }
  }

  /** Of a snapshot, wherever it comes from. */
  public static long maxBytes(RouterConfig.Snapshot config) {
    return config.maxMb() * BYTES_PER_MB;
  }

  private static @Nullable SnapshotDirectory open(
      RouterConfig.Snapshot config, @Nullable Path usual) throws IOException {
    if (config.dir() != null) {
      return take(Path.of(config.dir()));
    }
    try {
      return usual == null ? null : take(usual);
    } catch (IOException e) {
      LOG.warn("nothing will be kept for the next start, set snapshot.dir: {}", e.toString());
      return null;
    }
  }

  private static SnapshotDirectory take(Path path) throws IOException {
    SnapshotDirectory directory = SnapshotDirectory.open(path);
    try {
      directory.take();
    } catch (SnapshotDirectory.InUseException e) {
      LOG.warn(
          "snapshot.dir: {}; until that one ends, this one keeps nothing for its next start:"
              + " each router needs a directory of its own",
          e.getMessage());
    }
    return directory;
  }
}
