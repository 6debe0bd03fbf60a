package dev.warmpath.router.proxy;

import dev.warmpath.router.rig.Backend;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.concurrent.atomic.AtomicInteger;

/** Sends more than any buffer holds, as fast as it is taken, and knows when it is not. */
final class Flood implements Backend.Script {

  static final int TOTAL_BYTES = 64 << 20;
  private static final int CHUNK_BYTES = 65_536;
  private static final long STALL_NANOS = 300_000_000;

  private final AtomicInteger sent = new AtomicInteger();
  private volatile long lastNanos = Long.MAX_VALUE;

  @Override
  public void answer(HttpServerRequest request, Buffer body) {
    request.response().setChunked(true).putHeader("content-type", "text/event-stream");
    pump(request.response());
  }

  private void pump(HttpServerResponse response) {
    while (sent.get() < TOTAL_BYTES && !response.writeQueueFull()) {
      response.write(Buffer.buffer(new byte[CHUNK_BYTES]));
      sent.addAndGet(CHUNK_BYTES);
      lastNanos = System.nanoTime();
    }
    if (sent.get() >= TOTAL_BYTES) {
      response.end();
    } else {
      response.drainHandler(v -> pump(response));
    }
  }

  int sent() {
    return sent.get();
  }

  boolean isStalled() {
    return lastNanos != Long.MAX_VALUE && System.nanoTime() - lastNanos > STALL_NANOS;
  }
}
