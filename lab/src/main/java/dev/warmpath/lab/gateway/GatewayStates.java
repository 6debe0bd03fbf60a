package dev.warmpath.lab.gateway;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.bench.Percentiles;
import dev.warmpath.lab.bench.ProcFiles.Footprint;
import dev.warmpath.lab.gateway.GatewayBench.GatewayPlan;
import dev.warmpath.lab.gateway.TurnRunner.Turn;
import dev.warmpath.simulator.study.Spread;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * A router from its first ready moment on, state by state, and its peers beside it.
 *
 * @param cell the load
 * @param ready the router before the first request
 * @param states in the order in which they were measured
 * @param idleCpuMillis CPU milliseconds a second after the load; NaN if that was left out
 * @param idle the router then
 */
record GatewayStates(
    String cell,
    TurnRunner.Occupied ready,
    List<State> states,
    double idleCpuMillis,
    Footprint idle) {

  private static final String LINE = "%-15s %8s %8s %12s %9s %8s %8s %8s%n";

  GatewayStates {
    states = List.copyOf(states);
  }

  /**
   * A gateway in one state.
   *
   * @param afterSeconds load of the router before it
   * @param cpuMicros CPU time of a request, until the last of them was answered
   * @param cpuMicrosBefore CPU time of a request from the state before until this one; NaN for the
   *     first and for peers
   */
  record State(int afterSeconds, Turn turn, double cpuMicros, double cpuMicrosBefore) {}

  void print(PrintWriter to) {
    to.printf("a router that has just started, under %s:%n", cell);
    to.printf(
        LINE,
        "gateway",
        "after s",
        "cpu us",
        "cpu before",
        "first p50",
        "p99",
        "RSS MiB",
        "threads");
    print(to, GatewayReport.OURS, "ready", ready.footprint());
    for (State state : states) {
      Turn turn = state.turn;
      to.printf(
          LINE,
          turn.gateway(),
          state.afterSeconds,
          "%.0f".formatted(state.cpuMicros),
          Double.isNaN(state.cpuMicrosBefore) ? "" : "%.0f".formatted(state.cpuMicrosBefore),
          "%.0f".formatted(micros(turn, Percentiles::p50)),
          "%.0f".formatted(micros(turn, Percentiles::p99)),
          "%.0f".formatted(turn.footprint().residentMib()),
          turn.footprint().threads());
      if (turn.errors() > 0) {
        to.printf("  %d errors: %s%n", turn.errors(), turn.failures());
      }
    }
    if (!Double.isNaN(idleCpuMillis)) {
      print(to, GatewayReport.OURS, "idle", idle);
      to.printf("idle after that load: %.1f ms CPU a second%n", idleCpuMillis);
    }
  }

  private static void print(PrintWriter to, String gateway, String state, Footprint footprint) {
    to.printf(
        LINE,
        gateway,
        state,
        "",
        "",
        "",
        "",
        "%.0f".formatted(footprint.residentMib()),
        footprint.threads());
  }

  void put(ObjectNode to) {
    to.put("cell", cell);
    ObjectNode begin = put(to.putObject("ready"), ready.footprint());
    Spread.put(begin, "cpuSeconds", ready.cpuSeconds());
    ArrayNode list = to.putArray("list");
    for (State state : states) {
      Turn turn = state.turn;
      ObjectNode row = list.addObject().put("name", turn.gateway());
      row.put("afterSeconds", state.afterSeconds);
      row.put("n", turn.answered()).put("errors", turn.errors());
      Spread.put(row, "cpuMicrosPerRequest", state.cpuMicros);
      Spread.put(row, "cpuMicrosPerRequestBefore", state.cpuMicrosBefore);
      ObjectNode firstByte = row.putObject("firstByteMicros");
      Spread.put(firstByte, "p50", micros(turn, Percentiles::p50));
      Spread.put(firstByte, "p99", micros(turn, Percentiles::p99));
      put(row, turn.footprint());
    }
    if (!Double.isNaN(idleCpuMillis)) {
      Spread.put(put(to.putObject("idle"), idle), "cpuMillisPerSecond", idleCpuMillis);
    }
  }

  private static ObjectNode put(ObjectNode to, Footprint footprint) {
    return to.put("residentMib", Math.round(footprint.residentMib()))
        .put("threads", footprint.threads());
  }

  private static double micros(Turn turn, ToLongFunction<Percentiles> percentile) {
    return percentile.applyAsLong(turn.sentToFirstByte()) / 1e3;
  }

  /**
   * Measures them. The load is cut into parts of the length of a state, whose requests are made
   * before each; in a state all peers get the same part in turn, while the router waits.
   *
   * <p>Confined to its caller.
   */
  static final class Run {

    /** CPU microseconds of a gateway, and the answers that it gave for them. */
    private record Costs(double cpuMicros, long answers) {

      static final Costs NONE = new Costs(0, 0);

      Costs plus(Costs more) {
        return new Costs(cpuMicros + more.cpuMicros, answers + more.answers);
      }

      double perAnswer() {
        return answers == 0 ? Double.NaN : cpuMicros / answers;
      }
    }

    private static final double SETTLING = 0.25; // of the idle time, before it

    private final GatewayPlan plan;
    private final TurnRunner runner;
    private final Consumer<String> progress;
    private final List<State> states = new ArrayList<>();
    private Costs before = Costs.NONE;

    Run(GatewayPlan plan, TurnRunner runner, Consumer<String> progress) {
      this.plan = plan;
      this.runner = runner;
      this.progress = progress;
    }

    /** Measures a router that has just become ready. */
    GatewayStates run(Gateway router, List<Gateway> peers)
        throws IOException, InterruptedException {
      TurnRunner.Occupied ready = runner.occupied(router);
      List<Integer> marks = plan.states();
      for (int i = 0, second = 0; i < marks.size(); ) {
        int seconds = Math.min(plan.stateSeconds(), marks.get(i) - second);
        boolean isState = seconds == 0;
        int part = isState ? plan.stateSeconds() : seconds;
        List<ByteBuf> requests = requests(second, part);
        Costs costs = part(i, second, router, requests, isState, before.perAnswer());
        if (isState) {
          progress.accept("the state after %d s of load".formatted(second));
          before = Costs.NONE;
          peers(i, second, peers, requests);
          i++;
        }
        before = before.plus(costs);
        second += part;
      }
      return idle(router, ready);
    }

    private void peers(int round, int second, List<Gateway> peers, List<ByteBuf> requests)
        throws InterruptedException {
      for (Gateway peer : peers) {
        try {
          part(round, second, peer, requests, true, Double.NaN);
        } catch (IOException e) {
          progress.accept("%s is left out: %s".formatted(peer.name(), e.getMessage()));
        }
      }
    }

    /** Adds the state if it is one, and returns what the part cost. */
    private Costs part(
        int round,
        int second,
        Gateway gateway,
        List<ByteBuf> requests,
        boolean isState,
        double cpuMicrosBefore)
        throws IOException, InterruptedException {
      double begin = runner.occupied(gateway).cpuSeconds();
      Turn turn = runner.turn(round, plan.stateCell(), gateway, requests, 0);
      double seconds = runner.occupied(gateway).cpuSeconds() - begin;
      Costs costs = new Costs(1e6 * seconds, turn.answered());
      if (isState) {
        states.add(new State(second, turn, costs.perAnswer(), cpuMicrosBefore));
      }
      return costs;
    }

    private List<ByteBuf> requests(int second, int seconds) {
      int count = Math.max(1, plan.stateCell().count(seconds));
      return plan.stateCell().requests(Backends.MODEL, count, ~(long) second);
    }

    private GatewayStates idle(Gateway router, TurnRunner.Occupied ready)
        throws IOException, InterruptedException {
      double millis = Double.NaN;
      if (plan.idle() > 0) {
        progress.accept("the router without load");
        runner.idle(router, SETTLING * plan.idle());
        millis = runner.idle(router, plan.idle());
      }
      Footprint after = runner.occupied(router).footprint();
      return new GatewayStates(plan.stateCell().name(), ready, states, millis, after);
    }
  }
}
