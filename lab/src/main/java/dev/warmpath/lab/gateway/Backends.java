package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.simulator.live.EventPublisher;
import dev.warmpath.simulator.live.Ports;
import dev.warmpath.simulator.live.PublisherOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
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

  /**
   * The process of the stub replicas: {@code MODEL PORT…}. Each replica has event sockets as well,
   * which stay silent. It prints one line with the ports, {@code HTTP/EVENTS/REPLAY} for each; then
   * each line of its input names an {@link AnswerShape}, and is printed when it holds. It ends with
   * its input.
   *
   * <p>Confined to its main thread.
   */
  static final class StubReplicas {

    private StubReplicas() {}

    public static void main(String[] args) {
      try {
        serve(args);
        System.exit(0); // whatever threads the sockets have
      } catch (IOException e) {
        System.err.println(e.getMessage());
        System.exit(1);
      }
    }

    private static void serve(String[] args) throws IOException {
      List<Integer> asked = Stream.of(args).skip(1).map(Integer::valueOf).toList();
      try (StubServer server = new StubServer(args[0], asked)) {
        List<String> ports = new ArrayList<>();
        for (int port : server.ports()) {
          EventPublisher events =
              new EventPublisher(PublisherOptions.DEFAULT, 0, 0, true, StubReplicas::seconds);
          ports.add("%d/%d/%d".formatted(port, events.livePort(), events.replayPort()));
        }
        say(String.join(" ", ports));
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
          server.answer(AnswerShape.valueOf(line));
          say(line);
        }
      }
    }

    private static void say(String line) {
      System.out.println(line);
      System.out.flush();
    }

    private static double seconds() {
      return System.currentTimeMillis() / 1e3;
    }
  }
}
