package dev.warmpath.eventingest.capture.live;

import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.session.StreamMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * The sockets of one recorded engine: its live stream, and its replay until that is answered.
 *
 * <p>Confined to its recorder's thread.
 */
final class SourceSockets {

  private static final int MESSAGES_A_TURN = 1024;

  private final RecordedSource source;
  private final ZMQ.Socket live;
  private final List<CaptureRecord.Events> heard = new ArrayList<>();
  private @Nullable RecordedReplay replay;
  private long malformed;

  SourceSockets(RecordedSource source, ZContext context, ZMQ.Poller poller) {
    this.source = source;
    live = Sockets.open(context, SocketType.SUB);
    live.subscribe(source.topic().getBytes(StandardCharsets.UTF_8));
    live.connect(source.endpoint());
    poller.register(live, ZMQ.Poller.POLLIN);
    if (source.replayEndpoint() != null) {
      replay = new RecordedReplay(source.replayEndpoint(), context, poller);
    }
  }

  /** What is to be written next; live events wait for the replay that was asked before them. */
  List<CaptureRecord> receive(double nowSeconds) {
    List<CaptureRecord> ready = new ArrayList<>();
    if (replay != null && replay.follow(nowSeconds)) {
      ready.addAll(finish(nowSeconds));
    }
    List<byte[]> frames = Sockets.receive(live);
    for (int i = 1; !frames.isEmpty(); i++) {
      hear(frames, nowSeconds);
      frames = i < MESSAGES_A_TURN ? Sockets.receive(live) : List.of();
    }
    if (replay == null) {
      ready.addAll(heard);
      heard.clear();
    }
    return ready;
  }

  /** What the replay has answered by now, and the live events that waited for it. */
  List<CaptureRecord> finish(double nowSeconds) {
    List<CaptureRecord> ready = new ArrayList<>();
    if (replay != null) {
      ready.add(replay.record(nowSeconds, source.stream().id()));
      replay.close();
      replay = null;
    }
    for (CaptureRecord.Events events : heard) {
      ready.add(at(nowSeconds, events));
    }
    heard.clear();
    return ready;
  }

  /** How many messages have come that were no batches. */
  long malformed() {
    return malformed;
  }

  /** Times in a capture do not go back, so what had to wait gets the time of its writing. */
  private static CaptureRecord.Events at(double seconds, CaptureRecord.Events events) {
    return new CaptureRecord.Events(
        seconds, events.stream(), events.topic(), events.sequence(), events.payload());
  }

  private void hear(List<byte[]> frames, double nowSeconds) {
    StreamMessage message = StreamMessage.ofLive(frames);
    if (message == null) {
      malformed++;
      return;
    }
    heard.add(
        new CaptureRecord.Events(
            nowSeconds,
            source.stream().id(),
            frames.get(0),
            message.sequence(),
            message.payload()));
  }
}
