package dev.warmpath.router.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class FleetCommandTest {

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();
  private Rig rig;

  @BeforeEach
  void start() throws Exception {
    rig = new Rig(2);
    Rig.until(() -> rig.up() == 2);
  }

  @AfterEach
  void stop() {
    rig.close();
  }

  @Test
  void showsEachReplica() {
    assertThat(run("status")).isEqualTo(Exit.OK);
    List<String> lines = out.toString().lines().toList();
    assertThat(lines).anyMatch(line -> line.startsWith("replica  health  events"));
    assertThat(lines).anyMatch(line -> line.matches("r0 +up +none +\\S+ +0 +.*"));
    assertThat(lines).anyMatch(line -> line.matches("r1 +up +none +\\S+ +0 +.*"));
  }

  @Test
  void jsonIsTheRoutersAnswer() throws IOException {
    assertThat(run("status", "--json")).isEqualTo(Exit.OK);
    assertThat(new ObjectMapper().readTree(out.toString()).path("replicas")).hasSize(2);
  }

  @Test
  void drainsUntilIdleAndResumes() throws Exception {
    Queue<HttpServerResponse> held = new ConcurrentLinkedQueue<>();
    rig.backends.forEach(
        backend -> backend.script = (request, body) -> held.add(request.response()));
    rig.chatLater("{\"model\":\"m\"}");
    Rig.until(() -> held.size() == 1);
    String busy = rig.router.fleet().find("r0").orElseThrow().requests() == 1 ? "r0" : "r1";

    assertThat(run("drain", busy)).isEqualTo(Exit.OK);
    assertThat(out.toString()).contains(busy + " drains; 1 requests in flight");
    assertThat(run("drain", busy, "--wait", "1")).as("it still has one").isEqualTo(Exit.FAILED);
    assertThat(run("status")).isEqualTo(Exit.OK);
    assertThat(out.toString()).containsPattern(busy + " +up, draining");

    held.remove().end("{}");
    assertThat(run("drain", busy, "--wait", "30")).isEqualTo(Exit.OK);
    assertThat(run("resume", busy)).isEqualTo(Exit.OK);
    assertThat(rig.router.fleet().find(busy).orElseThrow().draining()).isFalse();
  }

  @Test
  void clears() {
    assertThat(run("clear", "r0")).isEqualTo(Exit.OK);
    assertThat(out.toString()).contains("r0: forgotten");
  }

  @Test
  void saysWhyAReplicaIsNotWarmed() {
    assertThat(run("warm", "r0")).isEqualTo(Exit.FAILED);
    assertThat(err.toString())
        .contains("409 'r0' is not warmed: its events do not tell exactly what it holds");
    assertThat(run("warm", "r9")).isEqualTo(Exit.FAILED);
    assertThat(err.toString()).contains("404 no replica is called r9");
    assertThat(run("warm", "r0", "--wait", "-1")).isEqualTo(Exit.USAGE);
  }

  /** Engines are looked at again until none is at work. */
  @Test
  void showsWhatAReplicaHasComputed() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    AtomicReference<String> state = new AtomicReference<>("done");
    String prewarm =
        "\"engine\":\"gpu\",\"prewarm\":{\"state\":\"%s\",\"prefixes\":3,\"computed\":%d,"
            + "\"tokens\":%d,\"millis\":40}";
    server.createContext(
        "/admin/replicas/gpu/warm",
        exchange ->
            answer(
                exchange,
                "{\"replica\":\"gpu\",\"engines\":[{"
                    + prewarm.formatted("running", 0, 0)
                    + "}]}"));
    server.createContext(
        "/admin/fleet",
        exchange ->
            answer(
                exchange,
                "{\"replicas\":[{\"name\":\"gpu\",\"engines\":[{\"dpRank\":0,"
                    + prewarm.formatted(state.get(), 3, 4800)
                    + "}]}]}"));
    server.start();
    try {
      String admin = "--admin=http://127.0.0.1:" + server.getAddress().getPort();
      assertThat(execute("fleet", "warm", "gpu", admin)).isEqualTo(Exit.OK);
      assertThat(out.toString().lines())
          .containsExactly(
              "engine  state    prefixes  computed  tokens  ms",
              "gpu     running  3         0         0       40");
      assertThat(execute("fleet", "warm", "gpu", "--wait", "30", admin)).isEqualTo(Exit.OK);
      assertThat(out.toString()).contains("gpu     done   3         3         4800    40");
      assertThat(execute("fleet", "warm", "gpu", "--wait=30", "--json", admin)).isEqualTo(Exit.OK);
      assertThat(out.toString())
          .contains(
              "{\"replica\":\"gpu\",\"engines\":[{" + prewarm.formatted("done", 3, 4800) + "}]}");
      state.set("spent");
      assertThat(execute("fleet", "warm", "gpu", "--wait=30", admin)).isEqualTo(Exit.OK);
      for (String how : List.of("refused", "failed", "gone", "late")) {
        state.set(how);
        assertThat(execute("fleet", "warm", "gpu", "--wait=30", admin)).isEqualTo(Exit.FAILED);
      }
    } finally {
      server.stop(0);
    }
  }

  private static void answer(HttpExchange exchange, String text) throws IOException {
    exchange.sendResponseHeaders(200, text.length());
    exchange.getResponseBody().write(text.getBytes(UTF_8));
    exchange.close();
  }

  @Test
  void reloads() {
    assertThat(run("reload")).isEqualTo(Exit.OK);
    assertThat(out.toString().lines())
        .containsExactly("applied: nothing", "needs a restart: nothing");
  }

  /** Below a path, as a proxy serves it. */
  @Test
  void saysWhatAReloadChanged() throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    server.createContext(
        "/router-1/admin/reload",
        exchange -> {
          byte[] answer =
              ("{\"applied\":[{\"key\":\"queue.requests\",\"before\":1000,\"after\":8}],"
                      + "\"needsRestart\":[{\"key\":\"listen.port\",\"before\":1,\"after\":2}]}")
                  .getBytes(UTF_8);
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    try {
      String admin = "--admin=http://127.0.0.1:" + server.getAddress().getPort() + "/router-1/";
      assertThat(execute("fleet", "reload", admin)).isEqualTo(Exit.OK);
      assertThat(out.toString().lines())
          .contains("  queue.requests: 8, was 1000", "  listen.port: 2, was 1");
      assertThat(execute("fleet", "status", admin)).isEqualTo(Exit.FAILED);
      assertThat(err.toString()).contains("404");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void whoResumesEndsTheWait() throws Exception {
    Queue<HttpServerResponse> held = new ConcurrentLinkedQueue<>();
    rig.backends.forEach(
        backend -> backend.script = (request, body) -> held.add(request.response()));
    rig.chatLater("{\"model\":\"m\"}");
    Rig.until(() -> held.size() == 1);
    String busy = rig.router.fleet().find("r0").orElseThrow().requests() == 1 ? "r0" : "r1";
    CompletableFuture<Integer> drained =
        CompletableFuture.supplyAsync(() -> run("drain", busy, "--wait", "60"));
    Rig.until(() -> rig.router.fleet().find(busy).orElseThrow().draining());
    rig.router.fleet().find(busy).orElseThrow().draining(false);
    assertThat(drained.get()).isEqualTo(Exit.FAILED);
    assertThat(err.toString()).contains("was resumed");
    held.remove().end("{}");
  }

  @Test
  void saysWhatIsWrong() throws IOException {
    assertThat(run("drain", "r 7/x")).isEqualTo(Exit.FAILED);
    assertThat(err.toString()).contains("404").contains("r 7/x");
    int port = rig.router.adminPort();
    rig.close();
    assertThat(run(port, "status")).isEqualTo(Exit.FAILED);
    assertThat(err.toString()).contains("no router answers there");
    assertThat(run(port, "status", "--key-file", "/nowhere")).isEqualTo(Exit.USAGE);
  }

  private int run(String... args) {
    return run(rig.router.adminPort(), args);
  }

  private int run(int port, String... args) {
    List<String> all = new ArrayList<>(List.of("fleet"));
    all.addAll(List.of(args));
    all.add("--admin=http://127.0.0.1:" + port);
    return execute(all.toArray(String[]::new));
  }

  private int execute(String... args) {
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(args);
  }
}
