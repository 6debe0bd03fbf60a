package dev.warmpath.router.upstream;

import dev.warmpath.router.fleet.Replica;
import io.vertx.core.Future;
import io.vertx.core.MultiMap;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks replicas the router's own questions, over connections of its own so that load does not
 * starve them. An answer that comes too late or is too long is a failure, and its exchange is
 * broken off.
 *
 * <p>Thread-safe; futures complete on the caller's context.
 */
public final class EngineClient {

  /** Connections are given up before an engine's own server (5 s in uvicorn) gives them up. */
  private static final int KEEP_ALIVE_SECONDS = 4;

  /**
   * Bounds of one client.
   *
   * @param connectMs to connect, as it is at the moment
   * @param connections to one replica
   * @param answerBytes of one answer
   */
  public record Limits(IntSupplier connectMs, int connections, int answerBytes) {}

  /** What a replica answered. */
  public record Answer(int status, MultiMap headers, Buffer buffer) {

    /** A copy of the body's bytes. */
    public byte[] body() {
      return buffer.getBytes();
    }
  }

  private final Upstreams upstreams;
  private final HttpClient client;
  private final Limits limits;

  EngineClient(Upstreams upstreams, String name, Limits limits) {
    this.upstreams = upstreams;
    this.limits = limits;
    this.client =
        upstreams.newConnections(
            new HttpClientOptions().setMetricsName(name).setKeepAliveTimeout(KEEP_ALIVE_SECONDS),
            new PoolOptions().setHttp1MaxSize(limits.connections()));
  }

  /**
   * A question under way.
   *
   * @param breakOff ends its exchange; the answer is a failure then
   */
  public record Call(Future<Answer> answer, Runnable breakOff) {}

  /** Gets {@code path}. */
  public Future<Answer> get(Replica replica, String path, long timeoutMs) {
    return ask(options(replica, HttpMethod.GET, path), null, timeoutMs, Future.future(p -> {}));
  }

  /** Posts {@code json} to {@code path}, with more headers. */
  public Future<Answer> post(
      Replica replica, String path, byte[] json, Map<String, String> headers, long timeoutMs) {
    return call(replica, path, json, headers, timeoutMs).answer();
  }

  /** The same, to be broken off. */
  public Call call(
      Replica replica, String path, byte[] json, Map<String, String> headers, long timeoutMs) {
    RequestOptions options =
        options(replica, HttpMethod.POST, path).putHeader("content-type", "application/json");
    headers.forEach(options::putHeader);
    Promise<Void> broken = Promise.promise();
    Future<Answer> answer = ask(options, Buffer.buffer(json), timeoutMs, broken.future());
    return new Call(answer, broken::tryComplete);
  }

  private RequestOptions options(Replica replica, HttpMethod method, String path) {
    Upstream upstream = upstreams.of(replica);
    RequestOptions options =
        upstream
            .options()
            .setMethod(method)
            .setURI(path)
            .setConnectTimeout(limits.connectMs().getAsInt());
    String authorization = upstream.authorization();
    return authorization == null ? options : options.putHeader("authorization", authorization);
  }

  /**
   * @param broken is done when nobody wants the answer any more
   */
  private Future<Answer> ask(
      RequestOptions options, @Nullable Buffer json, long timeoutMs, Future<Void> broken) {
    return connect(options)
        .compose(request -> {
          Future<Answer> answer = answer(request, json, timeoutMs);
          broken.onComplete(done -> request.reset());
          return answer;
        })
        .timeout(timeoutMs, TimeUnit.MILLISECONDS);
  }

  private Future<HttpClientRequest> connect(RequestOptions options) {
    try {
      return client.request(options);
    } catch (IllegalStateException e) {
      return Future.failedFuture(e); // it was closed
    }
  }

  private Future<Answer> answer(HttpClientRequest request, @Nullable Buffer json, long timeoutMs) {
    Future<HttpClientResponse> sent = json == null ? request.send() : request.send(json);
    return sent.compose(this::body)
        .timeout(timeoutMs, TimeUnit.MILLISECONDS)
        .onFailure(e -> request.reset());
  }

  private Future<Answer> body(HttpClientResponse response) {
    Buffer body = Buffer.buffer();
    return Future.future(promise -> {
      response.handler(chunk -> {
        if (body.length() + chunk.length() > limits.answerBytes()) {
          promise.tryFail("an answer longer than " + limits.answerBytes() + " bytes");
        } else {
          body.appendBuffer(chunk);
        }
      });
      response.endHandler(
          v -> promise.tryComplete(new Answer(response.statusCode(), response.headers(), body)));
      response.exceptionHandler(promise::tryFail);
    });
  }

  /** Ends its connections. */
  public Future<Void> close() {
    return client.close();
  }
}
