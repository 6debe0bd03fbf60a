package dev.warmpath.lab.ingest;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.stream.EngineStream;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.stream.StreamSockets;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.lab.bench.Meters;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * All on one thread: the frames of a message as a socket gives them, their sequence, their
 * decoding, the index. The first half of the batches fills the index before the clock starts: an
 * index in service is not empty.
 *
 * <p>Confined to the measuring thread.
 */
final class InProcessPass {

  private static final byte[] TOPIC = {};

  private final Meters meters;

  InProcessPass(Meters meters) {
    this.meters = meters;
  }

  PassResult run(IngestCorpus corpus, LongSupplier nanoClock) {
    KvIndex index = IngestCorpus.index();
    List<EngineStream> streams = new ArrayList<>();
    for (int engine = 0; engine < corpus.engines(); engine++) {
      streams.add(stream(index, IngestCorpus.source(engine, "tcp://none"), nanoClock));
    }
    int half = corpus.longest() / 2;
    long filled = apply(corpus, streams, 0, half);
    long cpuNanos = meters.threadCpuNanos();
    long nanos = meters.nanos();
    long blocks = apply(corpus, streams, half, corpus.longest());
    nanos = meters.nanos() - nanos;
    cpuNanos = meters.threadCpuNanos() - cpuNanos;
    boolean exact = filled + blocks == corpus.eventBlocks() && isExact(corpus, index);
    return new PassResult(blocks, nanos, cpuNanos, exact);
  }

  /** Applies the batches from {@code from} to {@code to} of all engines; returns their blocks. */
  private static long apply(IngestCorpus corpus, List<EngineStream> streams, int from, int to) {
    long blocks = 0;
    for (int batch = from; batch < to; batch++) {
      byte[] sequence = StreamMessage.sequenceFrame(batch);
      for (int engine = 0; engine < corpus.engines(); engine++) {
        EngineFeed feed = corpus.feeds().get(engine);
        if (batch < feed.batches()) {
          streams.get(engine).live(message(sequence, feed.payloads()[batch]));
          blocks += feed.eventBlocks()[batch];
        }
      }
    }
    return blocks;
  }

  /** Whether the index holds what the engines hold; they have the slots from 0 on. */
  static boolean isExact(IngestCorpus corpus, KvIndex index) {
    for (int engine = 0; engine < corpus.engines(); engine++) {
      KvIndex.EngineStats stats = index.stats(engine);
      long held = corpus.feeds().get(engine).heldBlocks();
      if (stats.heldBlocks() != held || stats.namedBlocks() != held) {
        return false;
      }
    }
    return true;
  }

  private static StreamMessage message(byte[] sequence, byte[] payload) {
    StreamMessage message =
        StreamMessage.ofLive(List.of(TOPIC, sequence, payload), StreamMessage.UNTIMED);
    if (message == null) {
      throw new IllegalStateException("three frames are no message");
    }
    return message;
  }

  private static EngineStream stream(KvIndex index, EngineSource source, LongSupplier nanoClock) {
    StreamCounters counters = new StreamCounters();
    EventApplier applier = new EventApplier(index, source, counters);
    EngineStream stream =
        new EngineStream(
            applier, StreamSockets.NO_REPLAY, StreamLimits.DEFAULT, nanoClock, counters);
    stream.connected();
    return stream;
  }
}
