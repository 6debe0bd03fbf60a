package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.ProcFiles;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.lab.gateway.Gateway.PeerAddress;
import dev.warmpath.lab.gateway.TurnRunner.ColdStart;
import dev.warmpath.lab.gateway.TurnRunner.Turn;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Measures our router and its peers: rounds in which each gateway has its turn in each cell, then a
 * router that has just started, and one that is idle.
 *
 * <p>Stub replicas and router are processes of their own; the load is in this one.
 *
 * <p>Confined to its caller.
 */
final class GatewayBench {

  private static final String FALLBACKS = "warmpath_fallbacks_total{";
  private static final long PEER_LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_MILLIS = 500;
  private static final int IDLE_REPLICAS = 16;
  private static final double SETTLING = 0.25; // of the idle time, before it

  private final GatewayPlan plan;
  private final GatewaySetup setup;
  private final Consumer<String> progress;
  private final ProcFiles proc;
  private double secondsToReady = Double.NaN;
  private double fallbacks;
  private long seed;

  /**
   * @throws IOException if the system shows no CPU times of processes
   */
  GatewayBench(GatewayPlan plan, GatewaySetup setup, Consumer<String> progress) throws IOException {
    this.plan = plan;
    this.setup = setup;
    this.progress = progress;
    proc = ProcFiles.ofTheMachine();
  }

  /**
   * Runs it all.
   *
   * @throws IOException if a process does not come up or ends too soon; with the end of its log
   */
  GatewayReport run() throws IOException, InterruptedException {
    try (Backends backends = Backends.start(setup.ports(), setup.log("replicas"));
        TurnRunner runner = new TurnRunner(proc)) {
      progress.accept(
          "stub replicas of model %s listen on 127.0.0.1, ports %s"
              .formatted(Backends.MODEL, backends.ports()));
      List<Gateway> peers = peers(runner);
      runner.warmUp(Gateway.direct(backends.ports()), plain(plan.warmUp()));
      List<Turn> turns = plan.cells().isEmpty() ? List.of() : turns(runner, backends, peers);
      backends.answer(AnswerShape.PLAIN);
      GatewayStates states = plan.states().isEmpty() ? null : states(runner, backends, peers);
      backends.answer(AnswerShape.PLAIN);
      ColdStart cold = plan.cold() == 0 ? null : cold(runner, backends);
      double idle = plan.idle() == 0 ? Double.NaN : idle(runner);
      return new GatewayReport(turns, (long) fallbacks, states, cold, idle, secondsToReady);
    }
  }

  private List<Gateway> peers(TurnRunner runner) throws IOException, InterruptedException {
    List<Gateway> peers = new ArrayList<>();
    for (PeerAddress address : setup.peers()) {
      long begin = System.nanoTime();
      while (!runner.answers(address.socketAddress(), plain(0))) {
        if (System.nanoTime() - begin > PEER_LIMIT_NANOS) {
          throw new IOException(address.name() + " answered no request within a minute");
        }
        TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      }
      peers.add(Gateway.of(address, proc));
    }
    return peers;
  }

  private List<Turn> turns(TurnRunner runner, Backends backends, List<Gateway> peers)
      throws IOException, InterruptedException {
    try (ServedRouter router = router(backends, "router")) {
      secondsToReady = router.awaitReady();
      router.awaitExact();
      List<Gateway> gateways = new ArrayList<>(List.of(gateway(router)));
      gateways.addAll(peers);
      for (Gateway gateway : gateways) {
        progress.accept("warming up " + gateway.name());
        runner.warmUp(gateway, plain(plan.warmUp()));
      }
      gateways.add(0, Gateway.direct(backends.ports()));
      double before = router.metric(FALLBACKS);
      List<Turn> turns = turns(runner, backends, router, gateways);
      fallbacks = router.metric(FALLBACKS) - before;
      return turns;
    }
  }

  private List<Turn> turns(
      TurnRunner runner, Backends backends, ServedRouter router, List<Gateway> gateways)
      throws IOException, InterruptedException {
    try {
      return new Rounds(plan, runner, progress).run(gateways, backends);
    } catch (IOException e) {
      router.requireAlive();
      throw e;
    }
  }

  private GatewayStates states(TurnRunner runner, Backends backends, List<Gateway> peers)
      throws IOException, InterruptedException {
    backends.answer(plan.stateCell().shape());
    try (ServedRouter router = router(backends, "state-router")) {
      secondsToReady = router.awaitReady();
      return new GatewayStates.Run(plan, runner, progress).run(gateway(router), peers);
    }
  }

  private ColdStart cold(TurnRunner runner, Backends backends)
      throws IOException, InterruptedException {
    progress.accept("a router that has just started");
    List<ByteBuf> requests = plain(plan.cold());
    try (ServedRouter router = router(backends, "cold-router")) {
      secondsToReady = router.awaitReady();
      return runner.cold(gateway(router), requests);
    }
  }

  private double idle(TurnRunner runner) throws IOException, InterruptedException {
    progress.accept("an idle router");
    List<Integer> ports = Collections.nCopies(IDLE_REPLICAS, 0);
    try (Backends many = Backends.start(ports, setup.log("idle-replicas"));
        ServedRouter router = router(many, "idle-router")) {
      router.awaitReady();
      router.awaitExact();
      runner.idle(gateway(router), SETTLING * plan.idle());
      return runner.idle(gateway(router), plan.idle());
    }
  }

  private ServedRouter router(Backends backends, String log) throws IOException {
    List<String> flags = new ArrayList<>(List.of("--set", "parity.enabled=false"));
    flags.addAll(setup.serveFlags());
    return new ServedRouter(
        Backends.MODEL, backends.replicas(), setup.tokenizer(), flags, setup.log(log));
  }

  private static Gateway gateway(ServedRouter router) {
    return new Gateway(
        GatewayReport.OURS, List.of(Gateway.loopback(router.port())), Set.of(router.pid()));
  }

  /** Plain small chats at the full rate. */
  private List<ByteBuf> plain(double seconds) {
    int count = (int) Math.max(1, seconds * GatewayPlan.FULL_RATE);
    seed++;
    return GatewayCell.PLAIN.requests(Backends.MODEL, count, -seed);
  }

  /**
   * Gives each gateway its turn in each cell of each round. All get the same requests, which no
   * gateway has seen before, and the order changes from round to round. A peer that has ended is
   * left out.
   */
  private record Rounds(GatewayPlan plan, TurnRunner runner, Consumer<String> progress) {

    /** Runs them; the replicas answer as each cell says. */
    List<Turn> run(List<Gateway> gateways, Backends backends)
        throws IOException, InterruptedException {
      List<Turn> turns = new ArrayList<>();
      for (int round = 0; round < plan.rounds(); round++) {
        List<Gateway> order = new ArrayList<>(gateways);
        Collections.rotate(order, -round);
        for (GatewayCell cell : plan.cells()) {
          progress.accept("round %d of %d, %s".formatted(round + 1, plan.rounds(), cell.name()));
          backends.answer(cell.shape());
          turns.addAll(turns(round, cell, order));
        }
      }
      return turns;
    }

    private List<Turn> turns(int round, GatewayCell cell, List<Gateway> gateways)
        throws IOException, InterruptedException {
      int leadIn = cell.count(plan.leadIn());
      int count = leadIn + Math.max(1, cell.count(plan.measured()));
      List<ByteBuf> requests =
          cell.requests(Backends.MODEL, count, 1_000L * round + cell.name().hashCode());
      List<Turn> turns = new ArrayList<>();
      for (Gateway gateway : gateways) {
        try {
          turns.add(runner.turn(round, cell, gateway, requests, leadIn));
        } catch (IOException e) {
          if (gateway.name().equals(GatewayReport.OURS)) {
            throw e;
          }
          progress.accept("%s is left out: %s".formatted(gateway.name(), e.getMessage()));
        }
      }
      return turns;
    }
  }

  /**
   * What is measured where.
   *
   * @param ports of the stub replicas; 0 for any
   * @param peers gateways in front of them that run already, or soon will
   * @param tokenizer of our router: a directory, {@code embedded}, or what else {@code serve} takes
   * @param serveFlags more flags for our router
   * @param directory for the logs
   */
  record GatewaySetup(
      List<Integer> ports,
      List<PeerAddress> peers,
      String tokenizer,
      List<String> serveFlags,
      Path directory) {

    private static final int LAST_PORT = 65_535;

    GatewaySetup {
      ports = List.copyOf(ports);
      peers = List.copyOf(peers);
      serveFlags = List.copyOf(serveFlags);
      for (int port : ports) {
        if (port < 0 || port > LAST_PORT) {
          throw new IllegalArgumentException("port " + port + " is not 0 to " + LAST_PORT);
        }
      }
      if (ports.isEmpty()
          || peers.stream().map(PeerAddress::name).distinct().count() < peers.size()) {
        throw new IllegalArgumentException("no ports, or two peers of one name");
      }
    }

    Path log(String name) {
      return directory.resolve(name + ".log");
    }
  }

  /**
   * What is measured, and for how long. Times are seconds.
   *
   * @param cells in each round, in this order
   * @param warmUp chats of 2 KiB at {@link #FULL_RATE} through each gateway before the first round
   * @param leadIn load of the cell itself before each measured part
   * @param measured length of the measured part, of each gateway in each cell and round
   * @param states seconds of load after which a new router's state is measured, rising; empty: none
   * @param cold load of a router that has just started; 0: none
   * @param idle of a router without requests; 0: none
   */
  record GatewayPlan(
      List<GatewayCell> cells,
      int rounds,
      double warmUp,
      double leadIn,
      double measured,
      List<Integer> states,
      double cold,
      double idle) {

    /** Requests a second to warm up, and to a router that has just started. */
    static final int FULL_RATE = 1_000;

    private static final double LONGEST = 3_600;
    private static final int MOST_ROUNDS = 100;

    private static final int MOST_STATE_SECONDS = 10;

    /** They are made before they are sent, and stay in memory as long. */
    private static final int MOST_REQUESTS = 200_000;

    GatewayPlan {
      cells = List.copyOf(cells);
      states = List.copyOf(states);
      for (int i = 0; i < states.size(); i++) {
        if (states.get(i) < 0
            || states.get(i) > LONGEST
            || (i > 0 && states.get(i) <= states.get(i - 1))) {
          throw new IllegalArgumentException(
              "states=" + states + ", not rising from 0 to " + (int) LONGEST);
        }
      }
      for (double seconds : new double[] {warmUp, leadIn, measured, cold, idle}) {
        if (!(seconds >= 0 && seconds <= LONGEST)) {
          throw new IllegalArgumentException("seconds=" + seconds + ", not 0 to " + LONGEST);
        }
      }
      if (rounds < 1 || rounds > MOST_ROUNDS || measured == 0) {
        throw new IllegalArgumentException("rounds=" + rounds + " measured=" + measured);
      }
      requireFew("the warm-up", FULL_RATE * warmUp);
      requireFew("the cold start", FULL_RATE * cold);
      cells.forEach(cell -> requireFew(cell.name(), cell.perSecond() * (leadIn + measured)));
    }

    /** The load under which states are measured: that of the first cell. */
    GatewayCell stateCell() {
      return cells.isEmpty() ? GatewayCell.PLAIN : cells.get(0);
    }

    /** Seconds for which a state is measured: ten, or the shortest time between two states. */
    int stateSeconds() {
      int seconds = MOST_STATE_SECONDS;
      for (int i = 1; i < states.size(); i++) {
        seconds = Math.min(seconds, states.get(i) - states.get(i - 1));
      }
      return seconds;
    }

    private static void requireFew(String what, double requests) {
      if (requests > MOST_REQUESTS) {
        throw new IllegalArgumentException(
            "%s has %.0f requests, more than %d".formatted(what, requests, MOST_REQUESTS));
      }
    }
  }
}
