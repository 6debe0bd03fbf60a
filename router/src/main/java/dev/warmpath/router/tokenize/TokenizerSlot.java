package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * One tokenizer, of one or more models, before and after it is loaded.
 *
 * <p>Single writer, many readers.
 */
final class TokenizerSlot {

  /** What is known at one moment. */
  record Content(
      TokenizerStatus.State state,
      @Nullable ModelTokenizer tokenizer,
      @Nullable String problem,
      int failures,
      long loadMillis) {}

  private final ModelSettings settings;
  private final CountDownLatch decided = new CountDownLatch(1);
  private volatile Content content = new Content(TokenizerStatus.State.LOADING, null, null, 0, 0);

  TokenizerSlot(ModelSettings settings) {
    this.settings = settings;
  }

  ModelSettings settings() {
    return settings;
  }

  Content content() {
    return content;
  }

  void ready(ModelTokenizer tokenizer, long loadMillis) {
    content =
        new Content(TokenizerStatus.State.READY, tokenizer, null, content.failures, loadMillis);
    decided.countDown();
  }

  void failed(String problem) {
    content = new Content(TokenizerStatus.State.FAILED, null, problem, content.failures + 1, 0);
    decided.countDown();
  }

  /** Waits for the end of the first attempt. */
  void await() throws InterruptedException {
    decided.await();
  }
}
