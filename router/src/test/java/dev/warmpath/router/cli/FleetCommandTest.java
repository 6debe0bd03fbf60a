package dev.warmpath.router.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
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
  void clearsAndReloads() {
    assertThat(run("clear", "r0")).isEqualTo(Exit.OK);
    assertThat(out.toString()).contains("r0: forgotten");
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
    return Main.commandLine()
        .setOut(new PrintWriter(out, true))
        .setErr(new PrintWriter(err, true))
        .execute(all.toArray(String[]::new));
  }
}
