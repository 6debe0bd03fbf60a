package dev.warmpath.router.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.warmpath.router.config.ConfigTree;
import dev.warmpath.router.rig.Backend;
import dev.warmpath.router.rig.Certificates;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.RawHttp2;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.http.HttpServerResponse;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Connections from their acceptance to their end, whatever is said on them. */
class ClientConnectionsTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final String LIMIT = "warmpath_connections_closed_total{reason=\"limit\"}";
  private static final String IDLE = "warmpath_connections_closed_total{reason=\"idle\"}";
  private static final String RESETS = "warmpath_connections_closed_total{reason=\"resets\"}";

  private static final String BROKEN = "warmpath_connections_closed_total{reason=\"broken\"}";

  @TempDir Path folder;

  @Test
  void thoseThatSayNoRequestCountAndAreClosed() throws Exception {
    List<byte[]> said = new ArrayList<>();
    for (String text :
        List.of("", "P", "PRI * HTTP/2.0\r\n\r\n", "GET / HTTP/1.1\r\nhost: x\r\n")) {
      said.add(text.getBytes(StandardCharsets.US_ASCII));
    }
    said.add(RawHttp2.connection().bytes());
    try (Rig rig = new Rig(1, tree -> silent(tree).set("listen.http2", true, "test"))) {
      countAndAreClosed(rig, said);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void oneWithoutATlsHandshakeCountsAndIsClosed(boolean http2) throws Exception {
    try (Rig rig =
        new Rig(1, tree -> tls(silent(tree).set("listen.http2", http2, "test"), "listen"))) {
      byte[] helloBegun = {22, 3, 1, 2, 0};
      countAndAreClosed(rig, Collections.nCopies(5, helloBegun));
    }
  }

  private static ConfigTree silent(ConfigTree tree) {
    return tree.set("limits.connections", 5, "test").set("timeouts.request-head-ms", 3_000, "test");
  }

  private ConfigTree tls(ConfigTree tree, String section) {
    try {
      Certificates.Issued own = new Certificates().issue("127.0.0.1");
      return tree.set(
              section + ".tls-cert",
              Files.writeString(folder.resolve("cert"), own.certificatePem()).toString(),
              "test")
          .set(
              section + ".tls-key",
              Files.writeString(folder.resolve("key"), own.keyPem()).toString(),
              "test");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** As many as the limit. */
  private static void countAndAreClosed(Rig rig, List<byte[]> said) throws Exception {
    List<RawClient> clients = new ArrayList<>();
    for (byte[] each : said) {
      clients.add(new RawClient(rig.router.port()).write(each));
    }
    try (RawClient more = new RawClient(rig.router.port())) {
      assertThat(more.readToEnd()).isEmpty();
    }
    Rig.until(() -> rig.metrics().get(LIMIT) == 1);
    for (int i = 0; i < clients.size(); i++) {
      try (RawClient client = clients.get(i)) {
        String form = new String(said.get(i), StandardCharsets.ISO_8859_1);
        assertThatCode(client::readToEnd).as("closed after '%s'", form).doesNotThrowAnyException();
      }
    }
    Rig.until(() -> rig.metrics().get("warmpath_connections") == 0);
    assertThat(rig.metrics().get(LIMIT)).isEqualTo(1.0);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theAdminPortWaitsNoLonger(boolean tls) throws Exception {
    try (Rig rig =
            new Rig(
                0,
                tree -> {
                  ConfigTree quick = tree.set("timeouts.request-head-ms", 100, "test");
                  return tls ? tls(quick, "admin") : quick;
                });
        RawClient client = new RawClient(rig.router.adminPort())) {
      assertThat(client.readToEnd()).isEmpty();
    }
  }

  @Test
  void aClientThatEndsItsOutputGetsItsAnswers() throws Exception {
    BlockingQueue<HttpServerResponse> answers = new LinkedBlockingQueue<>();
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.port())) {
      rig.backends.get(0).script = (request, body) -> answers.add(request.response());
      client.post("/v1/completions", BODY).post("/v1/completions", BODY).endOutput();
      String before = client.readUntil("HTTP/1.1 100 Continue\r\n\r\n"); // it is still there
      assertThat(before).doesNotContain(" 200 ");
      answers.poll(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).end("first");
      assertThat(client.readUntil("first")).contains(" 200 ");
      answers.poll(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS).end("second");
      assertThat(client.readToEnd()).contains(" 200 ").endsWith("second");
      Rig.until(() -> rig.metrics().get("warmpath_connections") == 0);
    }
  }

  @Test
  void aClientThatEndedItsOutputGetsAStreamToo() throws Exception {
    BlockingQueue<HttpServerResponse> answers = new LinkedBlockingQueue<>();
    try (Rig rig = new Rig(1);
        RawClient client = new RawClient(rig.router.port())) {
      rig.backends.get(0).script = (request, body) -> answers.add(request.response());
      client.post("/v1/completions", BODY).endOutput().readUntil("100 Continue\r\n\r\n");
      HttpServerResponse response = answers.poll(Rig.PATIENCE.toSeconds(), TimeUnit.SECONDS);
      response.setChunked(true).putHeader("content-type", "text/event-stream");
      response.write("data: 1\n\n");
      client.readUntil("data: 1");
      response.write("data: 2\n\n");
      client.readUntil("data: 2");
      response.end("data: [DONE]\n\n");
      assertThat(client.readToEnd()).contains("[DONE]").endsWith("0\r\n\r\n");
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aClientThatIsGoneIsFoundOutBeforeTheAnswer(boolean reset) throws Exception {
    try (Rig rig = new Rig(1)) {
      Backend backend = rig.backends.get(0);
      backend.script = (request, body) -> {};
      RawClient client = new RawClient(rig.router.port()).post("/v1/completions", BODY);
      Rig.until(() -> backend.bodies.size() == 1);
      if (reset) {
        client.reset();
      } else {
        client.close();
      }
      Rig.until(() -> backend.resets.get() == 1);
      rig.untilIdle();
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "GET /v1/mod",
        "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"
      })
  void halfARequestIsNotWaitedFor(String half) throws Exception {
    try (Rig rig = new Rig(1, tree -> tree.set("timeouts.request-head-ms", 60_000, "test"));
        RawClient client = new RawClient(rig.router.port())) {
      assertThat(client.write(half).endOutput().readToEnd()).isEmpty();
      rig.untilIdle();
    }
  }

  @Test
  void requestsTakenBackCountOverAllConnectionsOfAClient() throws Exception {
    try (Rig rig =
        new Rig(
            1,
            tree ->
                tree.set("listen.http2", true, "test")
                    .set("listen.host", "0.0.0.0", "test")
                    .set("limits.requests", 20, "test"))) {
      rig.backends.get(0).script = (request, body) -> {};
      Rig.until(() -> {
        takeBack(rig, 10);
        return rig.metrics().get(RESETS) >= 3;
      });
      rig.untilIdle();
      assertThat(rig.get("/health").statusCode()).as("a connection without resets").isEqualTo(200);
      double before = rig.metrics().get(RESETS);
      byte[] other = {127, 0, 0, 2};
      try (Socket socket =
          new Socket(
              InetAddress.getLoopbackAddress(),
              rig.router.port(),
              InetAddress.getByAddress(other),
              0)) {
        RawHttp2 frames = RawHttp2.connection().post(1, "/v1/completions").data(1, "{").reset(1);
        socket.getOutputStream().write(frames.bytes());
        rig.backends.get(0).script = (request, body) -> request.response().end("{}");
        assertThat(rig.chat("{}").statusCode()).isEqualTo(200);
        assertThat(rig.metrics().get(RESETS)).isEqualTo(before);
      }
    }
  }

  @Test
  void oneOfAStormIsNotBegun() throws Exception {
    try (Rig rig =
        new Rig(
            0,
            tree ->
                tree.set("listen.http2", true, "test")
                    .set("timeouts.request-head-ms", 500, "test")
                    .set("limits.requests", 400, "test"))) {
      Rig.until(() -> isToldToCalmDown(rig));
      assertThat(rig.metrics().get(RESETS)).isGreaterThanOrEqualTo(2);
      assertThat(rig.get("/health/live").statusCode()).as("HTTP/1.1 beside it").isEqualTo(200);
    }
  }

  /** What is sent first after a storm of half of the requests that may be taken back with time. */
  private static boolean isToldToCalmDown(Rig rig) {
    takeBack(rig, 400);
    try (RawClient client = new RawClient(rig.router.port())) {
      String calm = client.write(RawHttp2.connection().bytes()).readToEnd();
      int goAway = 9 + 3; // after empty settings
      return calm.length() > goAway
          && calm.charAt(goAway) == 7
          && calm.charAt(calm.length() - 1) == 11; // ENHANCE_YOUR_CALM
    } catch (java.io.IOException e) {
      return false;
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX)
  void oneWhoseClientLeftIsNotBegunWhileManyWait() throws Exception {
    List<RawClient> waiting = new ArrayList<>();
    try (Rig rig = new Rig(0)) {
      double before = rig.metrics().get(BROKEN);
      Rig.until(() -> {
        open(waiting, rig);
        openAndLeave(rig);
        return rig.metrics().get(BROKEN) > before;
      });
      assertThat(rig.get("/health/live").statusCode()).as("one who stays").isEqualTo(200);
    } finally {
      close(waiting);
    }
  }

  /** Clients open connections beforehand; they wait for nothing. */
  @Test
  @EnabledOnOs(OS.LINUX)
  void silentConnectionsDoNotWait() throws Exception {
    List<RawClient> silent = new ArrayList<>();
    try (Rig rig = new Rig(0, tree -> tree.set("timeouts.request-head-ms", 300_000, "test"))) {
      open(silent, rig);
      Rig.until(() -> areAnswered(rig, 200));
      assertThat(rig.metrics().get("warmpath_connections")).isGreaterThanOrEqualTo(256);
    } finally {
      close(silent);
    }
  }

  /** Requests that are whole when the router comes to their connections, most of them. */
  private static boolean areAnswered(Rig rig, int requests) {
    int answered = 0;
    for (int i = 0; i < requests; i++) {
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write("GET /health/live HTTP/1.1\r\nhost: x\r\n\r\n").endOutput();
        answered += client.readUntil("\r\n").contains(" 200 ") ? 1 : 0;
      } catch (java.io.IOException e) {
        // closed by the router
      }
    }
    return answered == requests;
  }

  /** As many as the router takes for a storm, if they are new. */
  private static void open(List<RawClient> clients, Rig rig) {
    try {
      close(clients);
      for (int i = 0; i < 256; i++) {
        clients.add(new RawClient(rig.router.port()));
      }
    } catch (java.io.IOException e) {
      throw new UncheckedIOException(e);
    }
    Rig.until(() -> rig.metrics().get("warmpath_connections") >= 256);
  }

  private static void close(List<RawClient> clients) throws java.io.IOException {
    for (RawClient client : clients) {
      client.close();
    }
    clients.clear();
  }

  private static void openAndLeave(Rig rig) {
    for (int i = 0; i < 20; i++) {
      try (RawClient client = new RawClient(rig.router.port())) {
        client.write("GET /health/live HTTP/1.1\r\n");
      } catch (java.io.IOException e) {
        // closed by the router
      }
    }
  }

  /** On a connection of its own. */
  private static void takeBack(Rig rig, int requests) {
    RawHttp2 frames = RawHttp2.connection();
    for (int i = 0; i < requests; i++) {
      frames.post(2 * i + 1, "/v1/completions").data(2 * i + 1, "{").reset(2 * i + 1);
    }
    try (RawClient client = new RawClient(rig.router.port())) {
      client.write(frames.bytes()).endOutput().readToEnd();
    } catch (java.io.IOException e) {
      // closed by the router
    }
  }
}
