package dev.warmpath.router.logs;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.follow.StreamTap;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Puts what the subscribers receive into a capture's queue.
 *
 * <p>Thread-safe.
 */
final class EventTap implements StreamTap {

  private final StreamNumbers numbers;
  private final TapQueue queue;
  private final QuietWatch quiet;
  private final LongSupplier nanoClock;
  private final long maxReplayBytes;
  private final Set<EngineId> lost = ConcurrentHashMap.newKeySet();

  /**
   * @param maxReplayBytes a longer answer of a replay socket is left out
   */
  EventTap(
      StreamNumbers numbers,
      TapQueue queue,
      QuietWatch quiet,
      LongSupplier nanoClock,
      long maxReplayBytes) {
    this.numbers = numbers;
    this.queue = queue;
    this.quiet = quiet;
    this.nanoClock = nanoClock;
    this.maxReplayBytes = maxReplayBytes;
  }

  @Override
  public void live(EngineId engine, byte[] topic, StreamMessage message) {
    int stream = numbers.of(engine);
    if (stream != StreamNumbers.NONE) {
      quiet.heard(stream, nanoClock.getAsLong());
      queue.offer(
          stream,
          RecordKind.EVENTS,
          message.payload().length,
          time -> new Events(time, stream, topic, message.sequence(), message.payload()));
    }
  }

  @Override
  public @Nullable Replies replay(EngineId engine, long fromSequence) {
    int stream = numbers.of(engine);
    if (stream == StreamNumbers.NONE) {
      return null;
    }
    quiet.began(stream);
    return new Answer(stream, fromSequence);
  }

  @Override
  public void connected(EngineId engine) {
    if (lost.remove(engine)) {
      mark(engine, "subscriber-back", Map.of());
    }
    connected(engine, true);
  }

  @Override
  public void disconnected(EngineId engine) {
    connected(engine, false);
    lost.add(engine);
    mark(engine, "subscriber-lost", Map.of());
  }

  private void connected(EngineId engine, boolean is) {
    int stream = numbers.of(engine);
    if (stream != StreamNumbers.NONE) {
      quiet.connected(stream, is);
    }
  }

  @Override
  public void restarted(EngineId engine, String why) {
    emptied(engine, "engine-started", why);
  }

  @Override
  public void cleared(EngineId engine, String why) {
    emptied(engine, "prefix-cache-reset", why);
  }

  private void emptied(EngineId engine, String mark, String why) {
    if (mark(engine, mark, Map.of("why", why))) {
      queue.emptied(numbers.of(engine));
    }
  }

  private boolean mark(EngineId engine, String name, Map<String, @Nullable Object> detail) {
    int stream = numbers.of(engine);
    if (stream == StreamNumbers.NONE) {
      return false;
    }
    quiet.heard(stream, nanoClock.getAsLong());
    return queue.offer(stream, RecordKind.MARK, 0, time -> new Mark(time, stream, name, detail));
  }

  /** One answer of a replay socket, a record when it is complete. */
  private final class Answer implements Replies {

    private final int stream;
    private final long fromSequence;
    private final List<List<byte[]>> replies = new ArrayList<>();
    private long bytes;

    Answer(int stream, long fromSequence) {
      this.stream = stream;
      this.fromSequence = fromSequence;
    }

    @Override
    public void reply(List<byte[]> frames) {
      bytes += TapQueue.OVERHEAD_BYTES;
      frames.forEach(frame -> bytes += frame.length);
      if (bytes <= maxReplayBytes) {
        replies.add(frames);
      } else {
        replies.clear();
      }
    }

    /** An engine that said nothing has not answered. */
    @Override
    public void ended() {
      if (bytes > maxReplayBytes) {
        queue.lost(stream, RecordKind.REPLAY);
      } else if (!replies.isEmpty()) {
        queue.offer(
            stream,
            RecordKind.REPLAY,
            bytes,
            time -> new Replay(time, stream, fromSequence, replies));
      }
      quiet.ended(stream, nanoClock.getAsLong());
    }
  }
}
