package dev.warmpath.lab.fleet;

import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.router.cli.Main;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;

/**
 * The simulated engines of one turn, each a process that begins with an empty cache.
 *
 * <p>Confined to the thread of the bench.
 */
final class EngineProcesses implements AutoCloseable {

  /** Many run on few processors: little memory, and no compiler that outruns the engine's work. */
  private static final List<String> JAVA_OPTIONS =
      List.of("-Xmx600m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1");

  private final List<ChildProcess> processes = new ArrayList<>();
  private final List<Ports> ports = new ArrayList<>();

  private EngineProcesses() {}

  /**
   * Starts them and waits until they listen.
   *
   * @throws IOException if one does not; with the end of its log
   */
  static EngineProcesses start(FleetBenchPlan plan, FleetSetup setup) throws IOException {
    EngineProcesses engines = new EngineProcesses();
    try {
      for (int i = 0; i < plan.engines(); i++) {
        engines.processes.add(
            ChildProcess.startTalking(
                "engine " + i,
                JavaCommand.with(JAVA_OPTIONS, Main.class, arguments(plan, wanted(setup, i))),
                setup.log("engine-" + i)));
      }
      for (ChildProcess process : engines.processes) {
        engines.ports.add(new Ports(port(process), port(process), port(process)));
      }
      return engines;
    } catch (IOException | RuntimeException e) {
      engines.close();
      throw e;
    }
  }

  List<Ports> ports() {
    return List.copyOf(ports);
  }

  /** Fails with the end of its log if one has ended. */
  void requireAlive() throws IOException {
    for (ChildProcess process : processes) {
      process.requireAlive();
    }
  }

  @Override
  public void close() {
    processes.forEach(ChildProcess::close);
  }

  private static Ports wanted(FleetSetup setup, int number) {
    int first = setup.enginePort() + number;
    return setup.enginePort() == 0
        ? Ports.ANY
        : new Ports(first, first + FleetSetup.EVENTS_OFFSET, first + FleetSetup.REPLAY_OFFSET);
  }

  private static List<String> arguments(FleetBenchPlan plan, Ports at) {
    List<String> arguments = new ArrayList<>(List.of("engine", "--model", FleetBenchPlan.MODEL));
    arguments.addAll(List.of("--port", Integer.toString(at.http())));
    arguments.addAll(List.of("--events-port", Integer.toString(at.events())));
    arguments.addAll(List.of("--replay-port", Integer.toString(at.replay())));
    arguments.addAll(List.of("--blocks", Integer.toString(plan.blocks())));
    arguments.addAll(List.of("--block-size", Integer.toString(plan.blockSizeTokens())));
    arguments.addAll(List.of("--speed", Double.toString(plan.speed()), "--topic", ""));
    return arguments;
  }

  /** From the next line that an engine prints at its start, which ends in a URL. */
  private static int port(ChildProcess engine) throws IOException {
    String line = engine.readLine();
    return URI.create(line.substring(line.lastIndexOf(' ') + 1)).getPort();
  }
}
