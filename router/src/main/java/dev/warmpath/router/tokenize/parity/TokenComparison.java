package dev.warmpath.router.tokenize.parity;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.tokenize.engine.EngineHttp;
import dev.warmpath.router.upstream.EngineClient;
import dev.warmpath.router.upstream.Upstreams;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Compares our tokens with those of the engines; owns the connections for it.
 *
 * <p>Thread-safe.
 */
public record TokenComparison(EngineHttp http, ParityWatch watch) implements AutoCloseable {

  private static final int CONNECTIONS = 2;
  private static final int ANSWER_BYTES = 16 << 20;
  private static final long LONGEST_TICK_MILLIS = 500;
  private static final long RETRY_SECONDS = 30;

  public static TokenComparison begin(
      Supplier<RouterConfig> running,
      Upstreams upstreams,
      Function<EngineHttp, ParityWatch.Sources> sources) {
    RouterConfig config = running.get();
    RouterConfig.Parity parity = config.parity();
    EngineClient.Limits limits =
        new EngineClient.Limits(
            () -> running.get().timeouts().connectMs(), CONNECTIONS, ANSWER_BYTES);
    EngineHttp http =
        new EngineHttp(thread("warmpath-parity-http"), upstreams.newClient("parity", limits));
    ParityWatch.Times times =
        new ParityWatch.Times(
            Math.min(LONGEST_TICK_MILLIS, config.health().intervalMs()),
            TimeUnit.MILLISECONDS.toNanos(parity.sampleIntervalMs()),
            TimeUnit.SECONDS.toNanos(RETRY_SECONDS),
            Duration.ofMillis(parity.timeoutMs()));
    return new TokenComparison(
        http, new ParityWatch(sources.apply(http), times, thread("warmpath-parity")));
  }

  private static ThreadFactory thread(String name) {
    return work -> {
      Thread thread = new Thread(work, name);
      thread.setDaemon(true);
      return thread;
    };
  }

  @Override
  public void close() {
    watch.close();
    http.close();
  }
}
