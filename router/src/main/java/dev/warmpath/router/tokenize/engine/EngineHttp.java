package dev.warmpath.router.tokenize.engine;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Asks engines over connections of its own. An answer that comes too late or is too long is an
 * exception in the future, and its exchange is broken off.
 *
 * <p>Thread-safe.
 */
public final class EngineHttp implements AutoCloseable {

  private static final int THREADS = 2;

  /** What an engine answered. Immutable, if nobody changes the bytes. */
  public static final class Answer {
    private final int status;
    private final HttpHeaders headers;
    private final byte[] body;

    Answer(HttpResponse<byte[]> response) {
      this.status = response.statusCode();
      this.headers = response.headers();
      this.body = response.body();
    }

    public int status() {
      return status;
    }

    public HttpHeaders headers() {
      return headers;
    }

    /** The bytes, not to be changed. */
    public byte[] body() {
      return body;
    }
  }

  private final ExecutorService threads;
  private final HttpClient client;
  private final int answerBytes;

  /**
   * A client.
   *
   * @param answerBytes longest answer that is read
   */
  public EngineHttp(ThreadFactory factory, Duration connect, int answerBytes) {
    this.threads = Executors.newFixedThreadPool(THREADS, factory);
    this.answerBytes = answerBytes;
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(connect)
            .executor(threads)
            .build();
  }

  /** Posts {@code json} to {@code path} of the engine at {@code base}. */
  public CompletableFuture<Answer> post(URI base, String path, byte[] json, Duration timeout) {
    return post(base, path, json, Map.of(), timeout);
  }

  /** The same with more headers. */
  public CompletableFuture<Answer> post(
      URI base, String path, byte[] json, Map<String, String> headers, Duration timeout) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(base.resolve(path))
            .header("content-type", "application/json")
            .POST(BodyPublishers.ofByteArray(json));
    headers.forEach(request::header);
    return send(request.build(), timeout);
  }

  /** Gets {@code path} of the engine at {@code base}. */
  public CompletableFuture<Answer> get(URI base, String path, Duration timeout) {
    return send(HttpRequest.newBuilder(base.resolve(path)).build(), timeout);
  }

  private CompletableFuture<Answer> send(HttpRequest request, Duration timeout) {
    CompletableFuture<HttpResponse<byte[]>> exchange =
        client.sendAsync(request, head -> new BoundedBody(answerBytes));
    return exchange
        .copy()
        .orTimeout(timeout.toMillis(), TimeUnit.MILLISECONDS)
        .whenComplete((answer, failure) -> {
          if (failure != null) {
            exchange.cancel(true);
          }
        })
        .thenApply(Answer::new);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
