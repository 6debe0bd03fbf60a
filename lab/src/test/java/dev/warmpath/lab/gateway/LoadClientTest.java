package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.warmpath.lab.gateway.LoadClient.OpenLoad;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LoadClientTest {

  private static final Duration LONG = Duration.ofSeconds(50);

  private final LoadClient client = new LoadClient(4);

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void answersOfAllShapesAreCounted() throws Exception {
    try (StubServer stub = new StubServer("m", List.of(0, 0))) {
      for (AnswerShape shape : AnswerShape.values()) {
        stub.answer(shape);
        LoadTimes times = run(stub.ports(), 40, shape.streams(), LONG);
        assertThat(times.answered(0)).isEqualTo(40);
        assertThat(times.answered(10)).isEqualTo(30);
        assertThat(times.failures(0)).isEmpty();
        assertThat(times.sentToFirstByte(0).p50()).isPositive();
        assertThat(times.dueToLastByte(0).p99())
            .isGreaterThanOrEqualTo(times.dueToFirstByte(0).p50());
      }
    }
  }

  @Test
  void streamThatIsNoneIsIncomplete() throws Exception {
    try (StubServer stub = new StubServer("m", List.of(0))) {
      LoadTimes times = run(stub.ports(), 3, true, LONG);
      assertThat(times.failures(0)).containsOnlyKeys("incomplete answer");
      assertThat(times.failures(0)).containsEntry("incomplete answer", 3);
      assertThat(times.answered(0)).isZero();
      assertThat(times.sentToFirstByte(0).p50()).isZero();
    }
  }

  @Test
  void errorsAreNamedByTheirStatusAndCode() throws Exception {
    byte[] refusal = "{\"error\":{\"code\":\"overloaded\"}}".getBytes(UTF_8);
    HttpServer server = HttpServer.create(loopback(0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(503, refusal.length);
          try (OutputStream body = exchange.getResponseBody()) {
            body.write(refusal);
          }
        });
    server.start();
    try {
      LoadTimes times = run(List.of(server.getAddress().getPort()), 5, false, LONG);
      assertThat(times.failures(0)).containsEntry("status 503 overloaded", 5).hasSize(1);
    } finally {
      server.stop(0);
    }
  }

  @Test
  void nobodyListens() throws Exception {
    int port;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = socket.getLocalPort();
    }
    LoadTimes times = run(List.of(port), 5, false, LONG);
    assertThat(times.failures(0)).containsEntry("cannot connect", 5).hasSize(1);
  }

  @Test
  void silenceFailsInTheEndAndSoDoThoseThatWaitForAConnection() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      LoadTimes times = run(List.of(silent.getLocalPort()), 6, false, Duration.ofSeconds(1));
      assertThat(times.answered(0)).isZero();
      assertThat(times.failures(0).values().stream().mapToInt(Integer::intValue).sum())
          .isEqualTo(6);
      assertThat(times.failures(0)).containsKey("no answer in time");
      assertThat(times.failures(0).keySet())
          .isSubsetOf("no answer in time", "no connection in time");
    }
  }

  @Test
  void connectionThatClosesIsReplaced() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      Thread thread = new Thread(() -> closeAll(server));
      thread.setDaemon(true);
      thread.start();
      LoadTimes times = run(List.of(server.getLocalPort()), 12, false, LONG);
      assertThat(times.failures(0)).containsEntry("connection closed", 12).hasSize(1);
    }
  }

  @Test
  void nothingIsSentOfALoadThatIsClosed() throws Exception {
    try (StubServer stub = new StubServer("m", List.of(0))) {
      List<InetSocketAddress> targets = List.of(loopback(stub.ports().get(0)));
      GatewayCell.GatewayRequests requests = new GatewayCell.GatewayRequests("m", 2_048, false, 1);
      OpenLoad load = new OpenLoad(targets, requests.withSystemPrompts(2), false, 0.001, LONG);
      client.start(load).close();
      while (Thread.getAllStackTraces().keySet().stream()
          .anyMatch(thread -> thread.getName().equals("load-clock"))) {
        Thread.onSpinWait();
      }
    }
  }

  private static void closeAll(ServerSocket server) {
    try {
      while (true) {
        try (var socket = server.accept()) {
          assertThat(socket.getInputStream().read()).isEqualTo('P');
        }
      }
    } catch (IOException e) {
      return; // the test has ended
    }
  }

  private LoadTimes run(List<Integer> ports, int count, boolean streamed, Duration limit)
      throws InterruptedException {
    List<InetSocketAddress> targets = ports.stream().map(LoadClientTest::loopback).toList();
    GatewayCell.GatewayRequests requests = new GatewayCell.GatewayRequests("m", 2_048, streamed, 1);
    OpenLoad load =
        new OpenLoad(targets, requests.withSystemPrompts(count), streamed, 1_000, limit);
    try (RunningLoad running = client.start(load)) {
      return running.await();
    }
  }

  private static InetSocketAddress loopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }
}
