package dev.warmpath.router.tokenize.engine;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import org.jspecify.annotations.Nullable;

/**
 * Gathers a body until it is longer than allowed, which fails it.
 *
 * <p>Confined to one exchange.
 */
final class BoundedBody implements BodySubscriber<byte[]> {

  private final int limitBytes;
  private final ByteArrayOutputStream read = new ByteArrayOutputStream();
  private final CompletableFuture<byte[]> body = new CompletableFuture<>();
  private @Nullable Subscription subscription;

  BoundedBody(int limitBytes) {
    this.limitBytes = limitBytes;
  }

  @Override
  public CompletionStage<byte[]> getBody() {
    return body;
  }

  @Override
  public void onSubscribe(Subscription begun) {
    subscription = begun;
    begun.request(Long.MAX_VALUE);
  }

  @Override
  public void onNext(List<ByteBuffer> parts) {
    for (ByteBuffer part : parts) {
      if (read.size() + part.remaining() > limitBytes) {
        refuse();
        return;
      }
      byte[] bytes = new byte[part.remaining()];
      part.get(bytes);
      read.write(bytes, 0, bytes.length);
    }
  }

  private void refuse() {
    if (subscription != null) {
      subscription.cancel();
    }
    body.completeExceptionally(new IOException("an answer longer than " + limitBytes + " bytes"));
  }

  @Override
  public void onError(Throwable failure) {
    body.completeExceptionally(failure);
  }

  @Override
  public void onComplete() {
    body.complete(read.toByteArray());
  }
}
