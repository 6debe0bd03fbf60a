package dev.warmpath.router.cluster;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.warmpath.router.rig.Rig;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The real server, if this machine has it, in a process of its own that keeps nothing. */
final class RedisServer implements AutoCloseable {

  private static final Path PROGRAM = Path.of("/usr/bin/redis-server");

  final int port;
  private final List<String> options;
  private final Path folder = Files.createTempDirectory("redis");
  private Path file;
  private Process process;

  RedisServer(String... options) throws IOException {
    assumeTrue(Files.isExecutable(PROGRAM), "redis-server is installed");
    this.port = ClusterLinkContract.freePort();
    this.options = new ArrayList<>(List.of("--save", "", "--appendonly", "no"));
    this.options.addAll(List.of("--dir", folder.toString()));
    this.options.addAll(List.of(options));
    this.process = start();
  }

  private RedisServer(Path sentinelFile) throws IOException {
    this.port = ClusterLinkContract.freePort();
    this.options = List.of("--sentinel");
    this.file = sentinelFile;
    this.process = start();
  }

  /** A sentinel that watches the server by the name of main. */
  static RedisServer sentinelOf(RedisServer server) throws IOException {
    Path file = Files.createTempFile("sentinel", ".conf");
    Files.writeString(file, "sentinel monitor main 127.0.0.1 " + server.port + " 1\n");
    return new RedisServer(file);
  }

  private Process start() throws IOException {
    List<String> command = new ArrayList<>(List.of(PROGRAM.toString()));
    if (file != null) {
      command.add(file.toString());
    }
    command.addAll(List.of("--port", "" + port, "--bind", "127.0.0.1"));
    command.addAll(options);
    Process started =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    Rig.until(this::answers);
    return started;
  }

  private boolean answers() {
    try {
      return !ask("PING").isEmpty();
    } catch (IOException e) {
      return false;
    }
  }

  /** The first bytes of its answer. */
  String ask(String command) throws IOException {
    try (Socket socket = new Socket(InetAddress.getByName("127.0.0.1"), port)) {
      socket.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
      socket.getOutputStream().flush();
      InputStream in = socket.getInputStream();
      byte[] answer = new byte[4096];
      return new String(answer, 0, Math.max(0, in.read(answer)), StandardCharsets.UTF_8);
    }
  }

  boolean refuses(String command, String error) {
    try {
      return ask(command).startsWith(error);
    } catch (IOException e) {
      return false;
    }
  }

  /** Nothing can be saved any more. */
  void removeFolder() throws IOException {
    Files.delete(folder);
  }

  String url() {
    return "redis://127.0.0.1:" + port;
  }

  void signal(String signal) throws Exception {
    new ProcessBuilder("kill", signal, Long.toString(process.pid())).start().waitFor();
  }

  /** Kills it and all that it knew. */
  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void startAgain() throws IOException {
    process = start();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
