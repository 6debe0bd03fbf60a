package dev.warmpath.lab.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.lab.tokens.TokenComparison.EngineTokenizeClient;
import dev.warmpath.simulator.cli.RenderTotals;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TokenComparisonTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final List<String> findings = new ArrayList<>();
  private final ModelTokenizer tokenizer = ModelTokenizer.embedded();
  private HttpServer server;
  private int addedToEachId;
  private int renderStatus = 200;

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    for (RequestKind kind : RequestKind.values()) {
      server.createContext(EngineTokenizeClient.path(kind) + "/render", at -> render(at, kind));
    }
    server.createContext("/tokenize", at -> answer(at, 200, RequestKind.CHAT, "tokens"));
    server.start();
  }

  @AfterEach
  void stop() {
    server.stop(0);
    tokenizer.close();
  }

  @Test
  void anEngineWithTheSameTokensIsExact() throws IOException {
    TokenComparison.Result result = run(60, RequestKind.values());
    assertThat(result.totals().wrong()).isZero();
    assertThat(result.totals().exact()).isGreaterThan(50);
    assertThat(result.json()).contains("\"total\":60,");
  }

  @Test
  void aTokenThatDiffersIsFoundAndShown() throws IOException {
    addedToEachId = 1;
    TokenComparison.Result result = run(8, RequestKind.CHAT);
    assertThat(result.totals().exact()).isZero();
    assertThat(result.totals().wrong()).isPositive();
    assertThat(findings).anyMatch(finding -> finding.contains("wrong from token 0 on"));
  }

  @Test
  void whatTheEngineRefusesCountsApart() throws IOException {
    renderStatus = 400;
    TokenComparison.Result result = run(8, RequestKind.MESSAGES);
    assertThat(result.totals()).isEqualTo(RenderTotals.NONE);
    assertThat(result.engineRefused() + result.bothRefused()).isEqualTo(8);
  }

  @Test
  void aClosedRenderRouteIsReplacedByTokenize() throws IOException {
    renderStatus = 403;
    assertThat(run(8, RequestKind.CHAT).totals().exact()).isPositive();
  }

  @Test
  void aKindWithoutAnOpenRouteLeavesTheOthersToBeCompared() throws IOException {
    renderStatus = 403;
    TokenComparison.Result result = run(8, RequestKind.RESPONSES, RequestKind.CHAT);
    assertThat(result.closed()).isGreaterThanOrEqualTo(4).isLessThan(8);
    assertThat(result.totals().exact()).isPositive();
    assertThat(findings)
        .filteredOn(finding -> finding.contains("/v1/responses/render is closed"))
        .hasSize(1);
  }

  @Test
  void oneSeedMakesTheSameRequests() {
    for (RequestKind kind : RequestKind.values()) {
      ObjectNode once = TokenComparison.body(kind, new java.util.Random(5));
      assertThat(TokenComparison.body(kind, new java.util.Random(5))).isEqualTo(once);
    }
  }

  private TokenComparison.Result run(int requests, RequestKind... kinds) throws IOException {
    URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    EngineTokenizeClient engine = new EngineTokenizeClient(HttpClient.newHttpClient(), uri);
    return new TokenComparison(tokenizer, engine, "m", findings::add)
        .run(requests, 7, List.of(kinds));
  }

  private void render(HttpExchange at, RequestKind kind) throws IOException {
    answer(at, renderStatus, kind, "token_ids");
  }

  private void answer(HttpExchange at, int status, RequestKind kind, String field)
      throws IOException {
    ObjectNode body = (ObjectNode) JSON.readTree(at.getRequestBody());
    PromptResult result = tokenizer.prompt(kind, body, null);
    int code = result instanceof Tokens ? status : 400;
    ObjectNode answer = JSON.createObjectNode();
    if (result instanceof Tokens tokens) {
      for (int id : tokens.sequences().get(0)) {
        answer.withArray(field).add(id + addedToEachId);
      }
    }
    byte[] bytes = answer.toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
    at.sendResponseHeaders(code, bytes.length);
    at.getResponseBody().write(bytes);
    at.close();
  }
}
