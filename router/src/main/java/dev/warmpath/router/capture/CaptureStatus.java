package dev.warmpath.router.capture;

import java.util.Map;

/**
 * How a capture stands.
 *
 * <p>Immutable.
 *
 * @param written records by kind
 * @param dropped records that the queue had no room for, or the disk refused
 * @param queuedBytes what waits for the disk
 * @param queueBytes how much may wait
 * @param failing whether nothing can be written now
 */
public record CaptureStatus(
    Map<RecordKind, Long> written,
    Map<RecordKind, Long> dropped,
    long queuedBytes,
    long queueBytes,
    boolean failing) {

  public CaptureStatus {
    written = Map.copyOf(written);
    dropped = Map.copyOf(dropped);
  }
}
