package dev.warmpath.simulator.bench.recovery;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/**
 * The HTTP side of all engines: healthy, and content with any request.
 *
 * <p>Thread-safe.
 */
final class StubReplica implements AutoCloseable {

  private static final String COMPLETION =
      "{\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"\"}]}";

  private final HttpServer server;

  StubReplica(String model) throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", exchange -> answer(exchange, COMPLETION));
    String models = "{\"object\":\"list\",\"data\":[{\"id\":\"%s\"}]}".formatted(model);
    server.createContext("/v1/models", exchange -> answer(exchange, models));
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  private static void answer(HttpExchange exchange, String json) throws IOException {
    exchange.getRequestBody().readAllBytes();
    byte[] bytes = json.getBytes(UTF_8);
    exchange.getResponseHeaders().add("content-type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    try (OutputStream body = exchange.getResponseBody()) {
      body.write(bytes);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
