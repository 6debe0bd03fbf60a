package dev.warmpath.simulator.bench.gateway;

import dev.warmpath.simulator.bench.gateway.stub.AnswerShape;
import dev.warmpath.simulator.bench.gateway.stub.StubReplicas;
import dev.warmpath.simulator.bench.process.ChildProcess;
import dev.warmpath.simulator.bench.process.JavaCommand;
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
  private final List<Replica> replicas;

  /** One of them, by its ports. */
  record Replica(int http, int events, int replay) {

    static Replica parse(String text) {
      int[] ports = Stream.of(text.split("/")).mapToInt(Integer::parseInt).toArray();
      return new Replica(ports[0], ports[1], ports[2]);
    }

    /** As a flag of {@code serve} takes it. */
    String flag(int number) {
      return "replica-%d=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d"
          .formatted(number, http, events, replay);
    }
  }

  private Backends(ChildProcess process, List<Replica> replicas) {
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
      return new Backends(process, Stream.of(line.split(" ")).map(Replica::parse).toList());
    } catch (IOException e) {
      process.close();
      throw e;
    }
  }

  List<Replica> replicas() {
    return replicas;
  }

  List<Integer> ports() {
    return replicas.stream().map(Replica::http).toList();
  }

  /** How chats are answered from now on. */
  void answer(AnswerShape shape) throws IOException {
    String answer = process.ask(shape.name());
    if (!answer.equals(shape.name())) {
      throw new IOException("the stub replicas answered '" + answer + "' to " + shape);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
