package dev.warmpath.lab.gateway;

import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The process of the stub replicas.
 *
 * <p>Confined to the thread of the bench.
 */
final class Backends implements AutoCloseable {

  static final String MODEL = "m";

  private final ChildProcess process;
  private final List<Ports> replicas;

  private Backends(ChildProcess process, List<Ports> replicas) {
    this.process = process;
    this.replicas = replicas;
  }

  /**
   * Starts one replica for each port.
   *
   * @param ports 0 for any
   */
  static Backends start(List<Integer> ports, Path log) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(MODEL));
    ports.forEach(port -> arguments.add(port.toString()));
    List<String> command = JavaCommand.small(StubReplicas.class, arguments);
    ChildProcess process =
        ChildProcess.startTalking("the process of the stub replicas", command, log);
    try {
      String line = process.readLine();
      return new Backends(process, Stream.of(line.split(" ")).map(Backends::ports).toList());
    } catch (IOException e) {
      process.close();
      throw e;
    }
  }

  List<Ports> replicas() {
    return replicas;
  }

  List<Integer> ports() {
    return replicas.stream().map(Ports::http).toList();
  }

  /** How chats are answered from now on. */
  void answer(AnswerShape shape) throws IOException {
    String answer = process.ask(shape.name());
    if (!answer.equals(shape.name())) {
      throw new IOException("the stub replicas answered '" + answer + "' to " + shape);
    }
  }

  private static Ports ports(String text) {
    int[] ports = Stream.of(text.split("/")).mapToInt(Integer::parseInt).toArray();
    return new Ports(ports[0], ports[1], ports[2]);
  }

  @Override
  public void close() {
    process.close();
  }
}
