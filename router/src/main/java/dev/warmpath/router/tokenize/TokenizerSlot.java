package dev.warmpath.router.tokenize;

import dev.warmpath.router.prompt.ReadingTime;
import dev.warmpath.router.tokenize.TokenizerStatus.Download;
import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * One tokenizer, of one or more models, before and after it is loaded. It hears how its download
 * goes.
 *
 * <p>Single writer, many readers.
 */
final class TokenizerSlot implements HubListener {

  /**
   * What is known at one moment.
   *
   * @param cost what prompts read with this tokenizer take
   */
  record Content(
      TokenizerStatus.State state,
      @Nullable ModelTokenizer tokenizer,
      @Nullable String problem,
      int failures,
      long loadMillis,
      ReadingTime cost) {

    Content(
        TokenizerStatus.State state,
        @Nullable ModelTokenizer tokenizer,
        @Nullable String problem,
        int failures,
        long loadMillis) {
      this(state, tokenizer, problem, failures, loadMillis, new ReadingTime());
    }
  }

  private final ModelSettings settings;
  private final CountDownLatch decided = new CountDownLatch(1);
  private volatile boolean loads;
  private volatile boolean waitsForFiles;
  private volatile Download download = Download.NONE;
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

  /** An attempt begins. */
  void begin() {
    loads = true;
    waitsForFiles = false;
  }

  /** Whether an attempt is made now. */
  boolean loads() {
    return loads;
  }

  /** No attempt is made before the files change. */
  void waitForFiles() {
    waitsForFiles = true;
  }

  boolean waitsForFiles() {
    return waitsForFiles;
  }

  Download download() {
    return download;
  }

  @Override
  public void show(long bytes, long totalBytes) {
    download = new Download(bytes, totalBytes, download.retries());
  }

  @Override
  public void retried() {
    download = new Download(download.bytes(), download.totalBytes(), download.retries() + 1);
  }

  void ready(ModelTokenizer tokenizer, long loadMillis) {
    content =
        new Content(TokenizerStatus.State.READY, tokenizer, null, content.failures, loadMillis);
    loads = false;
    decided.countDown();
  }

  void failed(String problem) {
    content = new Content(TokenizerStatus.State.FAILED, null, problem, content.failures + 1, 0);
    loads = false;
    decided.countDown();
  }

  /** Waits for the end of the first attempt. */
  void await() throws InterruptedException {
    decided.await();
  }
}
