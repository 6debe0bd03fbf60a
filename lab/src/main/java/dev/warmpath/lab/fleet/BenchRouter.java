package dev.warmpath.lab.fleet;

import dev.warmpath.lab.bench.ChildProcess;
import dev.warmpath.lab.bench.ServedRouter;
import dev.warmpath.lab.fleet.FleetBench.FleetBenchPlan;
import dev.warmpath.simulator.live.Ports;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A router to be measured.
 *
 * <p>Immutable.
 */
sealed interface BenchRouter {

  /** What it is called in the report and in the names of logs. */
  String name();

  /**
   * Starts it in front of these engines.
   *
   * @param log what it prints
   * @throws IOException if it does not come up; with the end of its log
   */
  Running start(List<Ports> engines, Path log) throws IOException, InterruptedException;

  /** One that was started. Confined to the thread of the bench. */
  interface Running extends AutoCloseable {

    /** Where requests go. */
    String url();

    /** Fails with the end of its log if it has ended. */
    void requireAlive() throws IOException;

    @Override
    void close();
  }

  /**
   * Our own router under one policy; a new process in each turn.
   *
   * @param name of the policy
   */
  record PolicyRouter(String name) implements BenchRouter {

    @Override
    public Running start(List<Ports> engines, Path log) throws IOException, InterruptedException {
      ServedRouter router =
          new ServedRouter(
              FleetBenchPlan.MODEL, engines, "embedded", List.of("--policy", name), log);
      try {
        router.awaitReady();
        router.awaitExact();
        return new Served(router);
      } catch (IOException | InterruptedException e) {
        router.close();
        throw e;
      }
    }

    private record Served(ServedRouter router) implements Running {

      @Override
      public String url() {
        return "http://127.0.0.1:" + router.port();
      }

      @Override
      public void requireAlive() throws IOException {
        router.requireAlive();
      }

      @Override
      public void close() {
        router.close();
      }
    }
  }

  /**
   * Another router, which knows the engines' ports by its own configuration.
   *
   * @param url where it takes requests
   * @param command for a shell, run anew in each turn; null for a router that is used as it is
   */
  record PeerRouter(String name, URI url, @Nullable String command) implements BenchRouter {

    private static final Pattern FORM =
        Pattern.compile("([A-Za-z0-9._-]{1,40})=(http://[^@/,]+)/?(?:@(.+))?", Pattern.DOTALL);
    private static final int CONNECT_MILLIS = 1_000;

    /**
     * Reads {@code NAME=URL[@COMMAND]}.
     *
     * @throws IllegalArgumentException if it is something else
     */
    static PeerRouter parse(String text) {
      Matcher form = FORM.matcher(text);
      if (!form.matches()) {
        throw new IllegalArgumentException(
            "'" + text + "' must be NAME=http://HOST:PORT[@COMMAND]");
      }
      URI url = URI.create(form.group(2));
      if (url.getHost() == null || url.getPort() < 1) {
        throw new IllegalArgumentException("'" + text + "' must have a host and a port");
      }
      return new PeerRouter(form.group(1), url, form.group(3));
    }

    /** The engines are not handed on: the peer is set up for their ports. */
    @Override
    public Running start(List<Ports> engines, Path log) throws IOException {
      if (command == null) {
        return new Peer(url.toString(), null);
      }
      if (isTaken()) {
        throw new IOException(
            name + ": something listens on " + url + " before the command is run");
      }
      return new Peer(url.toString(), ChildProcess.startGroup(name, command, log));
    }

    private boolean isTaken() {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress(url.getHost(), url.getPort()), CONNECT_MILLIS);
        return true;
      } catch (IOException e) {
        return false;
      }
    }

    private record Peer(String url, @Nullable ChildProcess process) implements Running {

      @Override
      public void requireAlive() throws IOException {
        if (process != null) {
          process.requireAlive();
        }
      }

      @Override
      public void close() {
        if (process != null) {
          process.close();
        }
      }
    }
  }
}
