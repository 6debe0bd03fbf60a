package dev.warmpath.eventingest.snapshot;

import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.snapshot.Section;
import dev.warmpath.kvindex.snapshot.SnapshotException;
import dev.warmpath.kvindex.snapshot.SnapshotException.Reason;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a process saves of all engines beside the index, and the way both go: one stream, to a file
 * or to whoever else reads it.
 *
 * @param taken when this was so
 * @param engines no two with one id or one slot
 */
public record IngestSnapshot(Instant taken, List<EngineSnapshot> engines) {

  private static final int MAX_ENGINES = 1 << 16;

  /**
   * What a snapshot may be.
   *
   * @param maxBytes no more are read
   * @param maxAge since it was taken
   * @param now by the wall clock, as in the snapshot: the clock may have been set between the two
   */
  public record Bounds(long maxBytes, Duration maxAge, Instant now) {

    private void checkAge(Instant taken) throws SnapshotException {
      if (Duration.between(taken, now).compareTo(maxAge) > 0) {
        throw new SnapshotException(
            Reason.TOO_OLD, "taken " + taken + ", at most " + maxAge + " old");
      }
    }
  }

  public IngestSnapshot {
    engines = List.copyOf(engines);
    Set<Object> seen = new HashSet<>();
    for (EngineSnapshot engine : engines) {
      if (!seen.add(engine.identity().id()) || !seen.add(engine.slot())) {
        throw new IllegalArgumentException(
            "id=" + engine.identity().id() + " or slot=" + engine.slot() + " twice");
      }
    }
  }

  /** Writes this and the index; to be called by the index's writer. Flushes the stream. */
  public void writeTo(OutputStream stream, RunKvIndex index, long maxBytes) throws IOException {
    try {
      SnapshotOutput out = new SnapshotOutput(stream, maxBytes);
      out.begin(Section.HEAD);
      out.int64(taken.toEpochMilli());
      out.int32(engines.size());
      out.end();
      for (EngineSnapshot engine : engines) {
        out.begin(Section.STREAM);
        engine.writeTo(out);
        out.end();
      }
      index.writeTo(out);
      out.finish();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * Reads both.
   *
   * @param index never had an engine; becomes what was written, or stays empty if this throws
   * @throws SnapshotException if the stream is not what {@link #writeTo} gives, or not within
   *     {@code bounds}
   */
  public static IngestSnapshot readFrom(InputStream stream, RunKvIndex index, Bounds bounds)
      throws IOException {
    SnapshotInput in = new SnapshotInput(stream, bounds.maxBytes());
    IngestSnapshot snapshot = readStreams(in, bounds);
    List<Integer> slots = snapshot.engines.stream().map(EngineSnapshot::slot).toList();
    index.readFrom(in, slots);
    index.keepOnly(slots); // the others were stores, of which no stream goes on
    return snapshot;
  }

  /**
   * Reads what stands before the index, which shows how far each engine was followed.
   *
   * @throws SnapshotException if that is not what {@link #writeTo} gives, or not within {@code
   *     bounds}
   */
  public static IngestSnapshot readStreams(InputStream stream, Bounds bounds) throws IOException {
    return readStreams(new SnapshotInput(stream, bounds.maxBytes()), bounds);
  }

  private static IngestSnapshot readStreams(SnapshotInput in, Bounds bounds) throws IOException {
    in.begin(Section.HEAD);
    Instant taken = Instant.ofEpochMilli(in.int64());
    int count = in.int32("engines", 0, MAX_ENGINES);
    in.end();
    bounds.checkAge(taken);
    try {
      List<EngineSnapshot> engines = new ArrayList<>();
      for (int left = count; left > 0; left--) {
        in.begin(Section.STREAM);
        engines.add(EngineSnapshot.readFrom(in));
        in.end();
      }
      return new IngestSnapshot(taken, engines);
    } catch (IllegalArgumentException e) {
      throw in.damaged(String.valueOf(e.getMessage()));
    }
  }
}
