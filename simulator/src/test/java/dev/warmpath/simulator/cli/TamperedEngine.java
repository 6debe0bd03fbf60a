package dev.warmpath.simulator.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.warmpath.kvindex.enginehash.HashAlgorithm;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.KvCacheConfig;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.live.LiveEngine;
import dev.warmpath.simulator.live.LiveEngineOptions;
import dev.warmpath.simulator.live.LiveEngines;
import dev.warmpath.simulator.live.PublisherOptions;
import dev.warmpath.simulator.live.WireForm;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

/** A simulated engine behind a server that meddles with the chats on their way. */
final class TamperedEngine implements AutoCloseable {

  /** What happens to a chat that is on its way to the engine. */
  interface Chat {
    void answer(TamperedEngine engine, HttpExchange exchange) throws IOException;
  }

  private static final HttpClient HTTP = HttpClient.newHttpClient();

  private final ModelTokenizer tokenizer;
  private final LiveEngines launcher;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final LiveEngine engine;
  private final HttpServer server;
  private int fillers;

  TamperedEngine(int blocks, Chat chat) throws IOException {
    this(blocks, 16, PublisherOptions.DEFAULT, chat);
  }

  TamperedEngine(int blocks, int blockSizeTokens, PublisherOptions events, Chat chat)
      throws IOException {
    this(ModelTokenizer.embedded(), blocks, blockSizeTokens, events, chat);
  }

  /** An engine with the model in this directory. */
  TamperedEngine(Path model, int blocks, Chat chat) throws IOException {
    this(ModelTokenizer.load(model), blocks, 16, PublisherOptions.DEFAULT, chat);
  }

  /** An SGLang with the model in this directory, and pages of so many tokens. */
  TamperedEngine(Path model, int pages, int pageTokens, Chat chat) throws IOException {
    this(
        ModelTokenizer.load(model),
        pages,
        pageTokens,
        PublisherOptions.DEFAULT.in(WireForm.SGLANG, false),
        chat);
  }

  private TamperedEngine(
      ModelTokenizer tokenizer, int blocks, int blockSizeTokens, PublisherOptions events, Chat chat)
      throws IOException {
    this.tokenizer = tokenizer;
    launcher = new LiveEngines(tokenizer);
    KvCacheConfig cache = KvCacheConfig.fullAttention(blockSizeTokens, blocks);
    EngineConfig config = new EngineConfig(cache, 4096, 16, 2048, new StepCost(1, 0, 0, 0));
    engine = launcher.start(LiveEngineOptions.of("sim", config).with(events, HashAlgorithm.SHA256));
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext("/", exchange -> pass(exchange, body -> body));
    server.createContext("/v1/chat/completions", exchange -> chat.answer(this, exchange));
    server.start();
  }

  /** What {@code --replica} takes. */
  String replica() {
    return "a=%s,events=%s,replay=%s".formatted(url(), events(), replay());
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  String events() {
    return engine.eventsEndpoint();
  }

  String replay() {
    return engine.replayEndpoint();
  }

  /** Changes all that the engine answers on one route. */
  void change(String path, UnaryOperator<String> changed) {
    server.createContext(path, exchange -> pass(exchange, changed));
  }

  /** Answers this on one route in the engine's place. */
  void answer(String path, String json) {
    answer(path, 200, json);
  }

  /** The same with another status. */
  void answer(String path, int status, String json) {
    server.createContext(
        path,
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          byte[] answer = json.getBytes(UTF_8);
          exchange.sendResponseHeaders(status, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
  }

  /** Refuses all on one route in the engine's place. */
  void refuse(String path, int status) {
    server.createContext(
        path,
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
  }

  /** Computes a prompt that nobody else sends, of about {@code blocks} blocks. */
  void fill(int blocks) throws IOException {
    fill(blocks, "");
  }

  /** The same with a cache salt, which goes into the blocks' hashes. */
  void fillSalted(int blocks) throws IOException {
    fill(blocks, ",\"cache_salt\":\"tenant\"");
  }

  private void fill(int blocks, String more) throws IOException {
    String ids = (",%d".formatted(100 + ++fillers)).repeat(16 * blocks).substring(1);
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engine.url() + "/v1/completions"))
            .POST(
                BodyPublishers.ofString(
                    "{\"prompt\":[%s],\"max_tokens\":1%s}".formatted(ids, more)))
            .build();
    if (send(request).statusCode() != 200) {
      throw new IOException("filling " + blocks + " blocks");
    }
  }

  /** Lets the engine answer, and changes what it says. */
  void pass(HttpExchange exchange, UnaryOperator<String> changed) throws IOException {
    byte[] body = exchange.getRequestBody().readAllBytes();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(engine.url() + exchange.getRequestURI()))
            .method(exchange.getRequestMethod(), BodyPublishers.ofByteArray(body))
            .build();
    HttpResponse<String> response = send(request);
    byte[] answer = changed.apply(response.body()).getBytes(UTF_8);
    response
        .headers()
        .firstValue("content-type")
        .ifPresent(type -> exchange.getResponseHeaders().add("content-type", type));
    exchange.sendResponseHeaders(response.statusCode(), answer.length == 0 ? -1 : answer.length);
    try (OutputStream out = exchange.getResponseBody()) {
      out.write(answer);
    }
  }

  /** Begins an answer, and sends nothing more. */
  void stall(HttpExchange exchange, String begin, CountDownLatch over) throws IOException {
    exchange.getRequestBody().readAllBytes();
    exchange.getResponseHeaders().add("content-type", "text/event-stream");
    exchange.sendResponseHeaders(200, 0);
    exchange.getResponseBody().write(begin.getBytes(UTF_8));
    exchange.getResponseBody().flush();
    try {
      over.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    exchange.close();
  }

  private static HttpResponse<String> send(HttpRequest request) throws IOException {
    try {
      return HTTP.send(request, BodyHandlers.ofString());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
    launcher.close();
    tokenizer.close();
  }
}
