package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.bench.ProcFiles.CpuTime;
import dev.warmpath.lab.bench.ProcFiles.Footprint;
import dev.warmpath.lab.bench.ProcFiles.MachineTime;
import dev.warmpath.lab.gateway.GatewayBench.GatewayPlan;
import dev.warmpath.lab.gateway.LoadClient.OpenLoad;
import dev.warmpath.simulator.study.Spread;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Sends loads through gateways and reads what they cost.
 *
 * <p>Confined to the thread of the bench.
 */
final class TurnRunner implements AutoCloseable {

  private static final int CONNECTIONS = 1_024;
  private static final Duration LIMIT = Duration.ofSeconds(30);

  private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ProcFiles proc;
  private final LoadClient client = new LoadClient(CONNECTIONS);

  TurnRunner(ProcFiles proc) {
    this.proc = proc;
  }

  /** Clock, CPU time and memory of a gateway, CPU time of the machine, at one moment. */
  private record Reading(long nanos, CpuTime cpu, MachineTime machine, Footprint footprint) {}

  /** The measured part of a load: the requests from {@code first} on. */
  private record Window(Reading begin, Reading end, LoadTimes times, int first) {

    Turn turn(int round, GatewayCell cell, Gateway gateway) {
      return new Turn(
          round,
          cell.name(),
          gateway.name(),
          times.answered(first),
          times.failures(first),
          gateway.pids().isEmpty() ? Double.NaN : cpuMicrosPerRequest(),
          times.sentToFirstByte(first),
          times.dueToFirstByte(first),
          times.dueToLastByte(first),
          times.dueToSent(first),
          end.footprint,
          end.machine.busyShareSince(begin.machine));
    }

    private double cpuMicrosPerRequest() {
      int answers = times.answeredBetween(begin.nanos, end.nanos);
      return end.cpu.nanosSince(begin.cpu) / 1e3 / Math.max(1, answers);
    }
  }

  /**
   * Measures a gateway; the requests before {@code first} are not counted. CPU time is that of the
   * measured part, over the answers that ended in it.
   */
  Turn turn(int round, GatewayCell cell, Gateway gateway, List<ByteBuf> requests, int first)
      throws IOException, InterruptedException {
    read(gateway); // fails before there is any load if its process has ended
    try (RunningLoad load =
        start(gateway.addresses(), requests, cell.shape().streams(), cell.perSecond())) {
      sleepUntil(load.schedule().dueNanos(first));
      Reading begin = read(gateway);
      sleepUntil(load.schedule().dueNanos(requests.size()));
      Reading end = read(gateway);
      return new Window(begin, end, load.await(), first).turn(round, cell, gateway);
    }
  }

  /** Sends plain chats at the full rate, and forgets how that went. */
  void warmUp(Gateway gateway, List<ByteBuf> requests) throws InterruptedException {
    run(gateway.addresses(), requests, GatewayPlan.FULL_RATE);
  }

  /** Whether something answers one plain chat. */
  boolean answers(InetSocketAddress address, List<ByteBuf> request) throws InterruptedException {
    return run(List.of(address), request, 1).answered(0) > 0;
  }

  /** Measures a router that has just become ready, under the full rate of plain chats. */
  ColdStart cold(Gateway gateway, List<ByteBuf> requests) throws IOException, InterruptedException {
    Reading begin = read(gateway);
    LoadTimes times = run(gateway.addresses(), requests, GatewayPlan.FULL_RATE);
    Reading end = read(gateway);
    long deadline = times.schedule().dueNanos(requests.size()) + GRACE_NANOS;
    double cpuMicros = end.cpu.nanosSince(begin.cpu) / 1e3;
    return new ColdStart(
        begin.cpu.nanosSince(CpuTime.ZERO) / 1e9,
        (double) times.answeredBetween(begin.nanos, deadline) / requests.size(),
        times.answered(0),
        times.dueToLastByte(0),
        cpuMicros / Math.max(1, times.answered(0)),
        times.failures(0));
  }

  /** What a gateway occupies, and the CPU seconds that its processes took so far. */
  Occupied occupied(Gateway gateway) throws IOException {
    Reading now = read(gateway);
    return new Occupied(now.cpu.nanosSince(CpuTime.ZERO) / 1e9, now.footprint);
  }

  /** CPU seconds of the processes of a gateway so far, and what they occupy. */
  record Occupied(double cpuSeconds, Footprint footprint) {}

  /** CPU milliseconds a second of a gateway without requests. */
  double idle(Gateway gateway, double seconds) throws IOException, InterruptedException {
    Reading begin = read(gateway);
    sleepUntil(begin.nanos + (long) (seconds * 1e9));
    Reading end = read(gateway);
    return 1e3 * end.cpu.nanosSince(begin.cpu) / (end.nanos - begin.nanos);
  }

  @Override
  public void close() {
    client.close();
  }

  /** A whole load of plain chats. */
  private LoadTimes run(List<InetSocketAddress> targets, List<ByteBuf> requests, double perSecond)
      throws InterruptedException {
    try (RunningLoad load = start(targets, requests, false, perSecond)) {
      return load.await();
    }
  }

  private RunningLoad start(
      List<InetSocketAddress> targets, List<ByteBuf> requests, boolean streamed, double perSecond) {
    return client.start(new OpenLoad(targets, requests, streamed, perSecond, LIMIT));
  }

  private Reading read(Gateway gateway) throws IOException {
    return new Reading(
        System.nanoTime(),
        proc.cpuTime(gateway.pids()),
        proc.machineTime(),
        proc.footprint(gateway.pids()));
  }

  private static void sleepUntil(long nanos) throws InterruptedException {
    TimeUnit.NANOSECONDS.sleep(nanos - System.nanoTime());
  }

  /**
   * A router under full load from its first ready moment on.
   *
   * @param cpuSecondsToReady CPU time that its process took until then
   * @param answeredShare of all requests, those answered within a second after the last was due
   * @param answered requests that were answered at some time
   * @param dueToLastByte nanoseconds, of these
   * @param failures requests that were not, by reason
   */
  record ColdStart(
      double cpuSecondsToReady,
      double answeredShare,
      int answered,
      Percentiles dueToLastByte,
      double cpuMicrosPerRequest,
      Map<String, Integer> failures) {

    ColdStart {
      failures = Map.copyOf(failures);
    }

    void put(ObjectNode to) {
      to.put("answeredShare", Math.round(answeredShare * 1e4) / 1e4);
      Spread.put(to, "p50Millis", millis(dueToLastByte.p50()));
      Spread.put(to, "p99Millis", millis(dueToLastByte.p99()));
      Spread.put(to, "cpuMicrosPerRequest", answered == 0 ? Double.NaN : cpuMicrosPerRequest);
      to.put("cpuSecondsToReady", Math.round(cpuSecondsToReady * 100) / 100.0);
      to.put("errors", failures.values().stream().mapToInt(Integer::intValue).sum());
    }

    void print(PrintWriter to) {
      to.printf(
          "cold: ready after %.2f s CPU; %.1f %% of the requests answered in time, p50 %.1f ms, p99 %.1f ms, %.0f us CPU each%n",
          cpuSecondsToReady,
          100 * answeredShare,
          millis(dueToLastByte.p50()),
          millis(dueToLastByte.p99()),
          cpuMicrosPerRequest);
      if (!failures.isEmpty()) {
        to.printf("  errors: %s%n", failures);
      }
    }

    private double millis(long nanos) {
      return answered == 0 ? Double.NaN : nanos / 1e6;
    }
  }

  /**
   * What one gateway did in one cell of one round. Times are nanoseconds.
   *
   * @param round from 0
   * @param answered requests of the measured part that were answered in whole
   * @param failures the others, by reason
   * @param cpuMicrosPerRequest of the gateway's processes; NaN where there is none
   * @param dueToSent how late the load itself was
   * @param footprint of the gateway's processes at the end of the measured part
   * @param busyShare of the machine's processors, whatever they did
   */
  record Turn(
      int round,
      String cell,
      String gateway,
      int answered,
      Map<String, Integer> failures,
      double cpuMicrosPerRequest,
      Percentiles sentToFirstByte,
      Percentiles dueToFirstByte,
      Percentiles dueToLastByte,
      Percentiles dueToSent,
      Footprint footprint,
      double busyShare) {

    Turn {
      failures = Map.copyOf(failures);
    }

    int errors() {
      return failures.values().stream().mapToInt(Integer::intValue).sum();
    }
  }
}
