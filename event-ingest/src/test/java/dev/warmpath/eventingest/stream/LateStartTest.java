package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.MovableClock;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.net.URL;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A router that starts behind a recorded SGLang, with the rules that it has by default. */
final class LateStartTest {

  private final StreamCounters counters = new StreamCounters();
  private final List<Long> asked = new ArrayList<>();

  private final StreamSockets port =
      new StreamSockets() {
        @Override
        public boolean canReplay() {
          return true;
        }

        @Override
        public void replay(long replayId, long fromSequence, boolean repairs) {
          asked.add(replayId);
        }

        @Override
        public void reopen() {}
      };

  @ParameterizedTest
  @ValueSource(strings = {"p1-basics", "p16-basics", "p16-concurrent", "p64-chats"})
  void knowsWhatTheReplayShows(String capture) throws Exception {
    List<StreamMessage> published = published("/captures/sglang-0.5.23-" + capture + ".wpc.gz");
    long heardLive = namedBlocks(List.of(), published);
    long late = namedBlocks(published, List.of());
    assertThat(heardLive).isPositive();
    assertThat(late).isGreaterThanOrEqualTo(heardLive * 95 / 100);
  }

  /** Named blocks after a first replay that shows {@code before}, and live batches behind it. */
  private long namedBlocks(List<StreamMessage> before, List<StreamMessage> live) {
    KvIndex index = new RunKvIndex(IndexLimits.unbounded(1 << 20));
    EngineSource source =
        new EngineSource(
            new EngineId("r", 0), "m", "tcp://x", false, "tcp://y", EngineDialect.SGLANG);
    EventApplier applier = new EventApplier(index, source, counters);
    EngineStream stream =
        new EngineStream(applier, port, StreamLimits.DEFAULT, new MovableClock(), counters);
    asked.clear();
    stream.connected();
    before.forEach(batch -> stream.replayed(asked.get(0), batch));
    stream.replayEnded(asked.get(0), true);
    live.forEach(stream::live);
    assertThat(stream.trust().trust()).isEqualTo(Trust.EXACT);
    return applier.stats().namedBlocks();
  }

  /** What the recorded engine's first process published. */
  private static List<StreamMessage> published(String resource) throws Exception {
    URL file = Objects.requireNonNull(LateStartTest.class.getResource(resource));
    List<StreamMessage> published = new ArrayList<>();
    try (CaptureReader reader = CaptureReader.open(Path.of(file.toURI()))) {
      for (CaptureRecord record = reader.next(); record != null; record = reader.next()) {
        if (record instanceof Events events && events.sequence() == published.size()) {
          published.add(new StreamMessage(events.sequence(), events.payload()));
        }
      }
    }
    return published;
  }
}
