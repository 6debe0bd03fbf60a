package dev.warmpath.router.snapshot;

import dev.warmpath.eventingest.snapshot.Recovery;
import dev.warmpath.eventingest.snapshot.RestoredEngines;
import dev.warmpath.eventingest.snapshot.file.DirectoryInUseException;
import dev.warmpath.eventingest.snapshot.file.SnapshotDirectory;
import dev.warmpath.eventingest.snapshot.file.SnapshotFormat.Content;
import dev.warmpath.eventingest.snapshot.file.SnapshotReader;
import dev.warmpath.eventingest.snapshot.file.SnapshotRefusedException.Reason;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.router.config.RouterConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The index that a router starts with, empty or from an earlier process's snapshot, and the
 * directory of its own snapshots.
 *
 * <p>Immutable, but its parts are not.
 *
 * @param restoredEngines what the earlier process knew beside the index; the ingest's from now on
 * @param directory null if nothing is to be kept
 * @param refused snapshots that could not be used
 */
public record RestoredState(
    RunKvIndex index,
    RestoredEngines restoredEngines,
    Recovery recovery,
    @Nullable SnapshotDirectory directory,
    Map<Reason, Integer> refused) {

  private static final Logger LOG = LoggerFactory.getLogger(RestoredState.class);
  private static final long BYTES_PER_MB = 1 << 20;

  /**
   * Takes the directory and reads the newest snapshot that can be used. If another router has the
   * directory, such as the one that this one replaces, this one reads what is there all the same.
   *
   * @param usual where to keep snapshots if the configuration does not say; null for nowhere. If
   *     that fails there are none; a configured directory must be there
   */
  public static RestoredState of(
      RouterConfig.Snapshot config,
      @Nullable Path usual,
      IndexLimits limits,
      Clock clock,
      LongSupplier nanoClock)
      throws IOException {
    Recovery recovery = new Recovery(nanoClock);
    SnapshotDirectory directory = config.enabled() ? open(config, usual) : null;
    if (directory == null) {
      return empty(limits, recovery, null, Map.of());
    }
    SnapshotReader.Bounds bounds =
        new SnapshotReader.Bounds(maxBytes(config), Duration.ofMillis(config.maxAgeMs()));
    SnapshotReader reader = new SnapshotReader(directory, bounds, clock.instant());
    Content content = reader.read(limits);
    if (content == null) {
      return empty(limits, recovery, directory, reader.refused());
    }
    LOG.info(
        "snapshot of {} read in {} s", content.ingest().taken(), recovery.sinceItBeganSeconds());
    RestoredEngines known = new RestoredEngines(content.index(), content.ingest(), recovery);
    return new RestoredState(content.index(), known, recovery, directory, reader.refused());
  }

  /** Gives the directory to whoever wants it next. */
  public void leaveDirectory() {
    if (directory != null) {
      directory.close();
    }
  }

  static long maxBytes(RouterConfig.Snapshot config) {
    return config.maxMb() * BYTES_PER_MB;
  }

  private static RestoredState empty(
      IndexLimits limits,
      Recovery recovery,
      @Nullable SnapshotDirectory directory,
      Map<Reason, Integer> refused) {
    RunKvIndex index = new RunKvIndex(limits);
    return new RestoredState(
        index, new RestoredEngines(index, null, recovery), recovery, directory, refused);
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
    } catch (DirectoryInUseException e) {
      LOG.warn(
          "snapshot.dir: {}; until that one ends, this one keeps nothing for its next start:"
              + " each router needs a directory of its own",
          e.getMessage());
    }
    return directory;
  }
}
