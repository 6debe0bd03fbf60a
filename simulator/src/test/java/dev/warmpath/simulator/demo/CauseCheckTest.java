package dev.warmpath.simulator.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class CauseCheckTest {

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

  /** Serves decisions, the newest first, whose ids end with 1. */
  private static CauseCheck check(String... decisions) throws Exception {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/admin/decisions",
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
          byte[] body = page.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      return CauseCheck.read("http://127.0.0.1:" + server.getAddress().getPort());
    } finally {
      server.stop(0);
    }
  }
}
