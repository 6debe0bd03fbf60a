package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.entry;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CauseCheckTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private static final String BALANCED =
      "{'id':%d,'promptTokens':100,'predictedCachedTokens':32,'cachedTokens':16,"
          + "'uncachedTokens':{'mispredicted':16,'new':68}}";

  @Test
  void aTokenWithoutACauseIsFound() throws Exception {
    CauseCheck check =
        check(
            BALANCED.formatted(3),
            "{'id':2,'promptTokens':100,'predictedCachedTokens':0,'cachedTokens':0,"
                + "'uncachedTokens':{'evicted':99}}",
            "{'id':1,'promptTokens':100,'predictedCachedTokens':0,'cachedTokens':null}");
    assertThat(check.judged()).isEqualTo(2);
    assertThat(check.unbalanced()).isEqualTo(1);
    assertThat(check.tokens())
        .containsOnly(entry("mispredicted", 16L), entry("new", 68L), entry("evicted", 99L));
  }

  @Test
  void allPagesAreRead() throws Exception {
    CauseCheck check =
        check(
            IntStream.rangeClosed(1, 2_500)
                .mapToObj(i -> BALANCED.formatted(2_501 - i))
                .toArray(String[]::new));
    assertThat(check.judged()).isEqualTo(2_500);
    assertThat(check.unbalanced()).isZero();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "500|{\"error\":\"broken\"}|was answered with 500",
        "404|{\"decisions\":[]}|was answered with 404",
        "200|{\"error\":\"none\"}|shows no decisions",
        "200|<html>|shows no decisions"
      })
  void anotherPageIsNoCheck(int status, String body, String problem) throws Exception {
    assertThatThrownBy(() -> check(exchange -> answer(exchange, status, body), TIMEOUT))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/admin/decisions?limit=1000 " + problem);
  }

  @Test
  void aRouterThatDoesNotAnswerIsNotWaitedForLong() {
    assertThatThrownBy(() -> check(exchange -> {}, Duration.ofMillis(50)))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("/admin/decisions?limit=1000 was not answered");
  }

  /** Serves decisions, the newest first, whose ids end with 1. */
  private static CauseCheck check(String... decisions) throws Exception {
    return check(
        exchange -> {
          String query = exchange.getRequestURI().getQuery();
          int before =
              query.contains("before")
                  ? Integer.parseInt(query.substring(query.lastIndexOf('=') + 1))
                  : decisions.length + 1;
          String page =
              IntStream.range(decisions.length + 1 - before, decisions.length)
                  .limit(1_000)
                  .mapToObj(i -> decisions[i].replace('\'', '"'))
                  .collect(Collectors.joining(",", "{\"decisions\":[", "]}"));
          answer(exchange, 200, page);
        },
        TIMEOUT);
  }

  private static void answer(HttpExchange exchange, int status, String text) throws IOException {
    byte[] body = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }

  private static CauseCheck check(HttpHandler decisions, Duration timeout) throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/admin/decisions", decisions);
    server.start();
    try {
      return CauseCheck.read("http://127.0.0.1:" + server.getAddress().getPort(), timeout);
    } finally {
      server.stop(0);
    }
  }
}
