package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.WireException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Counts what a capture holds of one stream.
 *
 * <p>Confined to its caller's thread.
 */
public final class CaptureStats {

  private final ColumnDecoder decoder = new ColumnDecoder();
  private final Map<String, Long> counts = new LinkedHashMap<>();
  private long lastSequence = -1;
  private double firstSeconds = Double.NaN;
  private double lastSeconds = Double.NaN;

  public CaptureStats() {
    for (String name :
        new String[] {
          "messages",
          "payload_bytes",
          "gaps",
          "missing_messages",
          "numbers_went_back",
          "undecodable",
          "events",
          "skipped_events",
          "blocks_stored",
          "blocks_removed",
          "clears",
          "replays",
          "replayed_messages",
          "requests",
          "responses_with_cached_tokens",
          "marks"
        }) {
      counts.put(name, 0L);
    }
  }

  /** One more record of the stream. */
  public void add(CaptureRecord record) {
    firstSeconds = Double.isNaN(firstSeconds) ? record.timeSeconds() : firstSeconds;
    lastSeconds = record.timeSeconds();
    if (record instanceof Events events) {
      message(events);
    } else if (record instanceof Replay replay) {
      count("replays", 1);
      count("replayed_messages", replay.replies().size());
    } else if (record instanceof Request) {
      count("requests", 1);
    } else if (record instanceof Response response) {
      count("responses_with_cached_tokens", response.cachedTokens() == null ? 0 : 1);
    } else if (record instanceof Mark) {
      count("marks", 1);
    }
  }

  /** Counts by name, always the same names in the same order. */
  public Map<String, Long> counts() {
    return Collections.unmodifiableMap(counts);
  }

  /** Time from the first record to the last. */
  public double seconds() {
    return Double.isNaN(firstSeconds) ? 0 : lastSeconds - firstSeconds;
  }

  private void message(Events events) {
    count("messages", 1);
    count("payload_bytes", events.payload().length);
    long sequence = events.sequence();
    if (lastSequence >= 0 && sequence > lastSequence + 1) {
      count("gaps", 1);
      count("missing_messages", sequence - lastSequence - 1);
    } else if (sequence <= lastSequence) {
      count("numbers_went_back", 1);
    }
    lastSequence = sequence;
    try {
      batch(decoder.decode(events.payload()));
    } catch (WireException e) {
      count("undecodable", 1);
    }
  }

  private void batch(EventColumns batch) {
    count("events", batch.events());
    count("skipped_events", batch.skipped());
    for (int i = 0; i < batch.events(); i++) {
      EventRow event = batch.row(i);
      switch (event.kind()) {
        case STORED -> count("blocks_stored", event.hashCount());
        case REMOVED -> count("blocks_removed", event.hashCount());
        case CLEARED -> count("clears", 1);
      }
    }
  }

  private void count(String name, long amount) {
    counts.merge(name, amount, Long::sum);
  }
}
