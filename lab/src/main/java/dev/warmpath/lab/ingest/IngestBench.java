package dev.warmpath.lab.ingest;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.eventingest.Clocks;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.stream.EngineStream;
import dev.warmpath.eventingest.stream.StreamLimits;
import dev.warmpath.eventingest.stream.StreamSockets;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.lab.bench.Meters;
import dev.warmpath.simulator.study.Spread;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.HdrHistogram.Histogram;

/**
 * Measures the way of events from the bytes of a socket into an index.
 *
 * <p>Confined to the measuring thread.
 */
final class IngestBench {

  /**
   * What is measured.
   *
   * @param engines that send
   * @param eventBlocks of one pass, of all engines together
   * @param filling whether the caches are not full yet; full, each block stored evicts one
   * @param nanos that the passes of each kind take together, at least
   * @param pacedRate event blocks per second at which waits are timed; 0 for half of what the
   *     sockets took
   */
  record Plan(int engines, int eventBlocks, boolean filling, long nanos, double pacedRate) {}

  private static final int WARM_UPS = 2;

  /** More before the passes in which single moments count: compilers would be among them. */
  private static final int PACED_WARM_UPS = 8;

  private static final double LOAD = 0.5;
  private static final int DIGITS = 3;
  private static final double NANOS_PER_MICRO = 1e3;

  private final Plan plan;
  private final Clocks clocks;
  private final Consumer<String> progress;
  private final Meters meters = new Meters();

  IngestBench(Plan plan, Clocks clocks, Consumer<String> progress) {
    this.plan = plan;
    this.clocks = clocks;
    this.progress = progress;
  }

  IngestReport run() {
    List<PassResult> filling = warmRounds("in process, filling", passInProcess(corpus(true)));
    IngestCorpus corpus = corpus(plan.filling());
    List<PassResult> inProcess =
        plan.filling() ? filling : warmRounds("in process", passInProcess(corpus));
    List<PassResult> zmq = warmRounds("zmq", () -> flood(corpus));
    double half = LOAD * PassResult.median(zmq, PassResult::blocksPerSecond);
    return new IngestReport(plan.engines(), inProcess, filling, zmq, paced(corpus, half));
  }

  private IngestReport.Paced paced(IngestCorpus corpus, double half) {
    Histogram unused = new Histogram(DIGITS);
    warmUp("zmq, paced", PACED_WARM_UPS, () -> paced(corpus, half, unused, unused));
    double rate = plan.pacedRate() > 0 ? plan.pacedRate() : half;
    Histogram visible = new Histogram(DIGITS);
    Histogram late = new Histogram(DIGITS);
    List<PassResult> took = rounds("zmq, paced", () -> paced(corpus, rate, visible, late));
    return new IngestReport.Paced(
        took, visible.getTotalCount(), micros(visible, 50), micros(visible, 99), micros(late, 99));
  }

  private IngestCorpus corpus(boolean filling) {
    IngestCorpus corpus = IngestCorpus.of(plan.engines(), plan.eventBlocks(), filling);
    progress.accept(
        "%d engines, %,d event blocks in %,d bytes, %,d held at the end"
            .formatted(
                corpus.engines(), corpus.eventBlocks(), corpus.bytes(), corpus.heldBlocks()));
    System.gc(); // else the first collections in each pass would copy the corpus
    return corpus;
  }

  private List<PassResult> warmRounds(String what, Supplier<PassResult> round) {
    warmUp(what, WARM_UPS, round);
    return rounds(what, round);
  }

  private void warmUp(String what, int rounds, Supplier<PassResult> round) {
    for (int i = 0; i < rounds; i++) {
      if (!round.get().exact()) {
        progress.accept(what + ", not warm yet: NOT EXACT");
      }
    }
  }

  private List<PassResult> rounds(String what, Supplier<PassResult> round) {
    List<PassResult> all = new ArrayList<>();
    long nanos = 0;
    while (nanos < plan.nanos()) {
      PassResult took = round.get();
      nanos += took.wallNanos();
      all.add(took);
      progress.accept(
          "%s: %.2f M blocks/s, %.2f M/CPU s%s"
              .formatted(
                  what,
                  took.blocksPerSecond() / 1e6,
                  took.blocksPerCpuSecond() / 1e6,
                  took.exact() ? "" : ", NOT EXACT"));
    }
    return all;
  }

  private Supplier<PassResult> passInProcess(IngestCorpus corpus) {
    return () -> new InProcessPass(meters).run(corpus, clocks.nanoClock());
  }

  private PassResult flood(IngestCorpus corpus) {
    try (ZmqPass pass = new ZmqPass(corpus, meters, clocks)) {
      return pass.flood();
    }
  }

  private PassResult paced(
      IngestCorpus corpus, double blocksPerSecond, Histogram visible, Histogram late) {
    try (ZmqPass pass = new ZmqPass(corpus, meters, clocks)) {
      PassResult took = pass.pace(blocksPerSecond);
      visible.add(pass.visibleNanos());
      late.add(pass.lateNanos());
      return took;
    }
  }

  private static double micros(Histogram histogram, double percentile) {
    return histogram.getValueAtPercentile(percentile) / NANOS_PER_MICRO;
  }

  /**
   * All on one thread: the frames of a message as a socket gives them, their sequence, their
   * decoding, the index. The first half of the batches fills the index before the clock starts: an
   * index in service is not empty.
   *
   * <p>Confined to the measuring thread.
   */
  static final class InProcessPass {

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

  /**
   * One pass over a corpus.
   *
   * @param cpuNanos of the threads between socket and index
   * @param exact whether the index holds what the engines hold, and each probe was answered in full
   */
  record PassResult(long eventBlocks, long wallNanos, long cpuNanos, boolean exact) {

    double blocksPerSecond() {
      return 1e9 * eventBlocks / wallNanos;
    }

    double blocksPerCpuSecond() {
      return 1e9 * eventBlocks / Math.max(1, cpuNanos);
    }

    static double median(List<PassResult> rounds, ToDoubleFunction<PassResult> of) {
      return Spread.of(rounds.stream().mapToDouble(of).toArray()).median();
    }
  }

  /**
   * What was measured, medians over the rounds.
   *
   * @param filling in process, with caches that are not full yet
   */
  record IngestReport(
      int engines,
      List<PassResult> inProcess,
      List<PassResult> filling,
      List<PassResult> zmq,
      Paced paced) {

    /**
     * The passes at half of the rate of {@code zmq}, or at the rate that was asked for.
     *
     * @param probes stores that were watched, in all passes together
     * @param visibleMicrosP99 from the moment at which a store was due until the index answers with
     *     it
     * @param sentMicrosP99 from the moment at which a batch was due until it was sent: the part of
     *     the wait that is the machine's own, before any of the code measured
     */
    record Paced(
        List<PassResult> took,
        long probes,
        double visibleMicrosP50,
        double visibleMicrosP99,
        double sentMicrosP99) {}

    /** Whether in all passes the index held what the engines held, and answered the probes. */
    boolean exact() {
      return Stream.of(inProcess, filling, zmq, paced.took())
          .flatMap(List::stream)
          .allMatch(PassResult::exact);
    }

    void print(PrintWriter to) {
      to.printf("%-12s %16s %18s%n", "", "event blocks/s", "a CPU second");
      line(to, "in process", inProcess);
      line(to, "  filling", filling);
      line(to, "zmq", zmq);
      to.printf(
          "at %.2f M/s: event to visible p50 %.0f us, p99 %.0f us (n = %d); sent late p99 %.0f us%n",
          pacedBlocksPerSecond() / 1e6,
          paced.visibleMicrosP50(),
          paced.visibleMicrosP99(),
          paced.probes(),
          paced.sentMicrosP99());
      to.flush();
    }

    ObjectNode json() {
      ObjectNode root = new ObjectMapper().createObjectNode();
      put(root.putObject("inProcess"), inProcess);
      put(root.putObject("filling"), filling);
      put(root.putObject("zmq"), zmq)
          .put("eventToVisibleMicrosP99", Math.round(paced.visibleMicrosP99()))
          .put("eventToVisibleMicrosP50", Math.round(paced.visibleMicrosP50()))
          .put("eventToVisibleCount", paced.probes())
          .put("dueToSentMicrosP99", Math.round(paced.sentMicrosP99()))
          .put("pacedEventBlocksPerSecond", Math.round(pacedBlocksPerSecond()));
      return root.put("engines", engines).put("exact", exact());
    }

    private double pacedBlocksPerSecond() {
      return PassResult.median(paced.took(), PassResult::blocksPerSecond);
    }

    private static ObjectNode put(ObjectNode to, List<PassResult> rounds) {
      return to.put(
              "eventBlocksPerSecond",
              Math.round(PassResult.median(rounds, PassResult::blocksPerSecond)))
          .put(
              "eventBlocksPerCpuSecond",
              Math.round(PassResult.median(rounds, PassResult::blocksPerCpuSecond)));
    }

    private static void line(PrintWriter to, String what, List<PassResult> rounds) {
      to.printf(
          "%-12s %,16.0f %,18.0f%n",
          what,
          PassResult.median(rounds, PassResult::blocksPerSecond),
          PassResult.median(rounds, PassResult::blocksPerCpuSecond));
    }
  }
}
