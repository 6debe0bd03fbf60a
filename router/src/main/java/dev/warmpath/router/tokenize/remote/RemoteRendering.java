package dev.warmpath.router.tokenize.remote;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.tokenize.engine.EngineHttp;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.Upstreams;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Has engines render what cannot be rendered here; owns the connections for it.
 *
 * <p>Thread-safe.
 */
public record RemoteRendering(EngineHttp http, RemotePrompts prompts) implements AutoCloseable {

  private static final int ANSWER_BYTES = 16 << 20;

  /** As many prompts may be rendered by one replica at a time. */
  private static final int CONNECTIONS = 64;

  /** Two questions may follow one another, and reading took time before. */
  private static final int QUESTIONS_IN_A_DEADLINE = 3;

  public static RemoteRendering begin(
      Supplier<RouterConfig> running,
      Upstreams upstreams,
      Function<EngineHttp, RemotePrompts.Sources> sources) {
    EngineClient.Limits limits =
        new EngineClient.Limits(
            () -> running.get().timeouts().connectMs(), CONNECTIONS, ANSWER_BYTES);
    EngineHttp http =
        new EngineHttp(
            work -> {
              Thread thread = new Thread(work, "warmpath-render-http");
              thread.setDaemon(true);
              return thread;
            },
            upstreams.newClient("render", limits));
    int millis = Math.max(1, running.get().tokenizing().deadlineMs() / QUESTIONS_IN_A_DEADLINE);
    return new RemoteRendering(
        http, new RemotePrompts(sources.apply(http), Duration.ofMillis(millis)));
  }

  @Override
  public void close() {
    http.close();
  }
}
