package dev.warmpath.router.warmup;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Answers as an engine does, without one: whole responses and streams of always the same tokens, in
 * the form that the request's path asks for.
 *
 * <p>Thread-safe.
 */
final class StubEngine {

  private static final int CHUNKS = 16;
  private static final String STREAM_MARK = "\"stream\":true";
  private static final String USAGE =
      "\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":16,\"total_tokens\":25,"
          + "\"prompt_tokens_details\":{\"cached_tokens\":0}}";
  private static final String HEAD =
      "{\"id\":\"stub-1\",\"object\":\"chat.completion\",\"created\":0,\"model\":\"stub\",";
  private static final String CHUNK =
      "data: "
          + HEAD
          + "\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n";
  private static final String METRICS =
      """
      process_start_time_seconds 1.0
      vllm:num_requests_running{engine="0",model_name="stub"} 1.0
      vllm:num_requests_waiting{engine="0",model_name="stub"} 0.0
      vllm:cache_config_info{block_size="16",engine="0",num_gpu_blocks="65536"} 1.0
      """;

  private static final String MESSAGE =
      "{\"id\":\"stub-1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"stub\","
          + "\"content\":[{\"type\":\"text\",\"text\":\"hi\"}],\"stop_reason\":\"end_turn\","
          + "\"usage\":{\"input_tokens\":9,\"output_tokens\":16}}";
  private static final String MESSAGE_START =
      "event: message_start\ndata: {\"type\":\"message_start\",\"message\":" + MESSAGE + "}\n\n";
  private static final String MESSAGE_CHUNK =
      "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,"
          + "\"delta\":{\"type\":\"text_delta\",\"text\":\" word\"}}\n\n";
  private static final String MESSAGE_END =
      "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";
  private static final String CHUNKS_END =
      "data: " + HEAD + "\"choices\":[]," + USAGE + "}\n\ndata: [DONE]\n\n";

  private final AtomicInteger streams = new AtomicInteger();
  private final Vertx vertx;
  private final HttpServer server;

  StubEngine(Vertx vertx) {
    this.vertx = vertx;
    this.server = vertx.createHttpServer().requestHandler(this::serve);
  }

  /** Listens on any port of the loopback. */
  Future<Integer> listen() {
    return server.listen(0, "127.0.0.1").map(HttpServer::actualPort);
  }

  private void serve(HttpServerRequest request) {
    HttpServerResponse response = request.response();
    switch (request.path()) {
      case "/health" -> response.end();
      case "/metrics" -> response.end(METRICS);
      case "/v1/models" ->
          response.end("{\"object\":\"list\",\"data\":[{\"id\":\"stub\",\"root\":\"stub\"}]}");
      case "/v1/messages" -> request.body().onSuccess(body -> answerMessage(response, body));
      default -> request.body().onSuccess(body -> answer(response, body));
    }
  }

  private void answer(HttpServerResponse response, Buffer body) {
    if (body.toString().contains(STREAM_MARK)) {
      stream(response, "", CHUNK, CHUNKS_END);
    } else {
      String text =
          "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"hi\"}}],";
      response.putHeader("content-type", "application/json").end(HEAD + text + USAGE + "}");
    }
  }

  private void answerMessage(HttpServerResponse response, Buffer body) {
    if (body.toString().contains(STREAM_MARK)) {
      stream(response, MESSAGE_START, MESSAGE_CHUNK, MESSAGE_END);
    } else {
      response.putHeader("content-type", "application/json").end(MESSAGE);
    }
  }

  /** Every other stream comes token by token, the others in one burst. */
  private void stream(HttpServerResponse response, String begin, String chunk, String end) {
    response.setChunked(true).putHeader("content-type", "text/event-stream; charset=utf-8");
    if (streams.getAndIncrement() % 2 == 0) {
      response.end(begin + chunk.repeat(CHUNKS) + end);
    } else {
      next(response, begin + chunk, chunk, end, CHUNKS);
    }
  }

  private void next(HttpServerResponse response, String first, String chunk, String end, int left) {
    if (response.ended() || response.closed()) {
      return;
    }
    if (left == 0) {
      response.end(end);
      return;
    }
    response.write(first);
    vertx.runOnContext(v -> next(response, chunk, chunk, end, left - 1));
  }
}
