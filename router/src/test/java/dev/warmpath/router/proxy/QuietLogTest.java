package dev.warmpath.router.proxy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.warmpath.router.rig.RawClient;
import dev.warmpath.router.rig.RawHttp2;
import dev.warmpath.router.rig.Rig;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** Clients leave whenever they like, and the log says nothing of it: they are counted. */
class QuietLogTest {

  private static final String BODY = "{\"model\":\"m\",\"prompt\":\"p\"}";
  private static final int TIMES = 40;

  /** Off in the router's own configuration of the log. */
  private static final Set<String> OFF =
      Set.of(
          "io.vertx.core.net.impl.ConnectionBase",
          "io.vertx.core.http.impl.HttpClientResponseImpl",
          "io.vertx.core.http.impl.HttpClientConnectionInternal");

  private final List<ILoggingEvent> lines = new CopyOnWriteArrayList<>();
  private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent line) {
          if (line.getLevel().isGreaterOrEqual(Level.WARN)
              && !OFF.contains(line.getLoggerName())
              && !line.getLoggerName().endsWith("BlockedThreadChecker")) { // the machine is busy
            lines.add(line);
          }
        }
      };

  private Rig rig;

  @BeforeEach
  void listen() {
    rig =
        new Rig(
            1,
            tree ->
                tree.set("listen.http2", true, "test")
                    .set("timeouts.request-body-ms", 2_000, "test"));
    appender.start();
    root.addAppender(appender);
  }

  @AfterEach
  void stop() {
    root.detachAppender(appender);
    rig.close();
  }

  @Test
  void ofClientsThatLeaveAtAnyMoment() throws Exception {
    List<String> sent =
        List.of(
            "",
            "PRI * HTTP",
            "GET /v1/mod",
            "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
            post(),
            post() + post() + post(),
            post() + "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{",
            post() + "GET / HTTP/1.1\r\nbad header\r\n\r\n",
            post() + chunked() + "zz\r\n",
            chunked() + "zz\r\n",
            chunked() + "1\r\n{\r\n",
            "GET /v1/none HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{" + post(),
            "GET /v1/realtime HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\n"
                + "sec-websocket-key: x3JJHMbDL1EzLkh9GBhXDw==\r\nsec-websocket-version: 13\r\n\r\n"
                + chunked()
                + "zz\r\n");
    for (boolean answers : new boolean[] {true, false}) {
      rig.backends.get(0).script = answers ? this::stream : (request, body) -> {};
      for (int i = 0; i < TIMES; i++) {
        for (String text : sent) {
          leave(text.getBytes(US_ASCII), i);
        }
      }
    }
    isQuiet();
    assertThat(rig.metrics().get("warmpath_connections_closed_total{reason=\"broken\"}"))
        .isPositive();
  }

  @Test
  void ofRequestsTakenBackOverHttp2() throws Exception {
    RawHttp2 resets = RawHttp2.connection();
    RawHttp2 begun = RawHttp2.connection();
    RawHttp2 bad = RawHttp2.connection();
    for (int stream = 1; stream < 100; stream += 2) {
      resets.post(stream, "/v1/completions").data(stream, "{").reset(stream);
      begun.post(stream, "/v1/completions").data(stream, "{");
      bad.post(stream, "").post(stream, "/v1/none").data(stream, "x");
    }
    bad.frame(1, 4, 0);
    RawHttp2 whole = RawHttp2.connection();
    whole.post(1, "/v1/completions").frame(0, 1, 1, BODY.getBytes(US_ASCII)).reset(1);
    whole.post(3, "/v1/completions").frame(0, 1, 3, BODY.getBytes(US_ASCII));
    for (boolean answers : new boolean[] {true, false}) {
      rig.backends.get(0).script = answers ? this::stream : (request, body) -> {};
      for (int i = 0; i < TIMES; i++) {
        for (RawHttp2 frames : List.of(resets, begun, bad, whole)) {
          leave(frames.bytes(), i);
        }
      }
    }
    isQuiet();
  }

  private void isQuiet() {
    Rig.until(() -> rig.metrics().get("warmpath_connections") == 0);
    rig.untilIdle();
    assertThat(lines).isEmpty();
  }

  private void stream(HttpServerRequest request, Buffer body) {
    rig.backends.get(0).stream(
        request, List.of(Buffer.buffer("data: 1\n\n"), Buffer.buffer("data: 2\n\n")));
  }

  private static String post() {
    return "POST /v1/completions HTTP/1.1\r\nhost: x\r\ncontent-length: "
        + BODY.length()
        + "\r\n\r\n"
        + BODY;
  }

  private static String chunked() {
    return "POST /v1/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n";
  }

  /** Sends and leaves, by turns with a reset, with its output ended first, and just so. */
  private void leave(byte[] sent, int turn) {
    try (RawClient client = new RawClient(rig.router.port())) {
      client.write(sent);
      switch (turn % 3) {
        case 0 -> client.reset();
        case 1 -> client.endOutput();
        default -> {}
      }
    } catch (IOException e) {
      // closed by the router
    }
  }
}
