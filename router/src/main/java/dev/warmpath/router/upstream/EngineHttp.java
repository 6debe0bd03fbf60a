package dev.warmpath.router.upstream;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.upstream.EngineClient.Answer;
import io.vertx.core.AsyncResult;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;

/**
 * Asks engines, and gives their answers to threads of its own: reading many tokens would hold up an
 * event loop. An answer that comes too late or is too long is an exception in the future.
 *
 * <p>Thread-safe.
 */
public final class EngineHttp implements AutoCloseable {

  private static final int THREADS = 2;

  private final ExecutorService threads;
  private final EngineClient client;

  public EngineHttp(ThreadFactory factory, EngineClient client) {
    this.threads = Executors.newFixedThreadPool(THREADS, factory);
    this.client = client;
  }

  /** Posts {@code json} to {@code path} of the replica's engine. */
  public CompletableFuture<Answer> post(
      Replica replica, String path, byte[] json, Duration timeout) {
    return post(replica, path, json, Map.of(), timeout);
  }

  /** The same with more headers. */
  public CompletableFuture<Answer> post(
      Replica replica, String path, byte[] json, Map<String, String> headers, Duration timeout) {
    return given(client.post(replica, path, json, headers, timeout.toMillis()), timeout);
  }

  /** Gets {@code path} of the replica's engine. */
  public CompletableFuture<Answer> get(Replica replica, String path, Duration timeout) {
    return given(client.get(replica, path, timeout.toMillis()), timeout);
  }

  private CompletableFuture<Answer> given(Future<Answer> asked, Duration timeout) {
    CompletableFuture<Answer> answer = new CompletableFuture<>();
    asked.onComplete(done -> deliver(answer, done));
    return answer.orTimeout(2 * timeout.toMillis(), TimeUnit.MILLISECONDS); // should all be closed
  }

  private void deliver(CompletableFuture<Answer> answer, AsyncResult<Answer> done) {
    try {
      threads.execute(() -> settle(answer, done));
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(e);
    }
  }

  private static void settle(CompletableFuture<Answer> answer, AsyncResult<Answer> done) {
    if (done.succeeded()) {
      answer.complete(done.result());
    } else {
      answer.completeExceptionally(done.cause());
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    client.close();
  }
}
