package dev.warmpath.eventingest.snapshot.file;

import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.file.SnapshotFormat.Content;
import dev.warmpath.eventingest.snapshot.file.SnapshotRefusedException.Reason;
import dev.warmpath.kvindex.IndexLimits;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the newest snapshot of a directory that can be used, and counts those that cannot.
 *
 * <p>Confined to its caller.
 */
public final class SnapshotReader {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotReader.class);

  /** What a file may be at most. */
  public record Bounds(long maxBytes, Duration maxAge) {}

  private final SnapshotDirectory directory;
  private final Bounds bounds;

  /** By the wall clock, as in the file: the clock may have been set between the two. */
  private final Instant now;

  private final Map<Reason, Integer> refused = new EnumMap<>(Reason.class);

  public SnapshotReader(SnapshotDirectory directory, Bounds bounds, Instant now) {
    this.directory = directory;
    this.bounds = bounds;
    this.now = now;
  }

  /** State of ingest and index, or null if there is no snapshot to be used. */
  public @Nullable Content read(IndexLimits limits) {
    for (Path file : directory.snapshots()) {
      try {
        return read(file, limits);
      } catch (SnapshotRefusedException e) {
        refused.merge(e.reason(), 1, Integer::sum);
        LOG.warn("snapshot {} is refused, {}: {}", file, e.reason().label(), e.getMessage());
      }
    }
    return null;
  }

  /** How many files were refused, by reason. */
  public Map<Reason, Integer> refused() {
    return refused;
  }

  private Content read(Path file, IndexLimits limits) throws SnapshotRefusedException {
    try {
      checkSize(Files.size(file));
      try (InputStream in = new BufferedInputStream(new FileInputStream(file.toFile()))) {
        IngestSnapshot ingest = SnapshotFormat.readIngest(in);
        checkAge(ingest.taken());
        return SnapshotFormat.readBehind(ingest, in, limits);
      }
    } catch (SnapshotRefusedException e) {
      throw e;
    } catch (IOException e) {
      throw new SnapshotRefusedException(Reason.UNREADABLE, e);
    } catch (RuntimeException e) { // a start must not fail for a file that it can do without
      throw new SnapshotRefusedException(Reason.DAMAGED, e);
    }
  }

  private void checkSize(long bytes) throws IOException {
    if (bytes > bounds.maxBytes()) {
      throw new SnapshotRefusedException(
          Reason.TOO_LARGE, bytes + " bytes, at most " + bounds.maxBytes());
    }
  }

  private void checkAge(Instant taken) throws IOException {
    if (Duration.between(taken, now).compareTo(bounds.maxAge()) > 0) {
      throw new SnapshotRefusedException(
          Reason.TOO_OLD, "taken " + taken + ", at most " + bounds.maxAge() + " old");
    }
  }
}
