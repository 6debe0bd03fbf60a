package dev.warmpath.router;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.tokenize.engine.EngineHttp;
import dev.warmpath.router.tokenize.remote.RemotePrompts;
import java.time.Duration;
import java.util.function.Function;

/**
 * Prompts that engines render for us, and the connections that it takes.
 *
 * <p>Thread-safe.
 */
record Remote(EngineHttp http, RemotePrompts prompts) implements AutoCloseable {

  private static final int ANSWER_BYTES = 16 << 20;

  /** Two questions may follow one another, and reading took time before. */
  private static final int QUESTIONS_IN_A_DEADLINE = 3;

  static Remote begin(RouterConfig config, Function<EngineHttp, RemotePrompts.Sources> sources) {
    Duration connect = Duration.ofMillis(config.timeouts().connectMs());
    EngineHttp http =
        new EngineHttp(
            work -> {
              Thread thread = new Thread(work, "warmpath-render-http");
              thread.setDaemon(true);
              return thread;
            },
            connect,
            ANSWER_BYTES);
    int millis = Math.max(1, config.tokenizing().deadlineMs() / QUESTIONS_IN_A_DEADLINE);
    return new Remote(http, new RemotePrompts(sources.apply(http), Duration.ofMillis(millis)));
  }

  @Override
  public void close() {
    http.close();
  }
}
