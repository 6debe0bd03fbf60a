package dev.warmpath.router;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Keeps the lines of a warm-up or a simulation out of the log: of a stub engine that comes and
 * goes, and of routers that come and leave. Errors pass, and everything with {@code
 * WARMPATH_LOG_LEVEL=DEBUG}.
 *
 * <p>Thread-safe.
 */
public final class Quiet extends Filter<ILoggingEvent> {

  /** Also of the threads that are started meanwhile; a thread that outlives it is heard again. */
  private static final InheritableThreadLocal<@Nullable AtomicBoolean> RUNNING =
      new InheritableThreadLocal<>();

  /** Does {@code work} in silence, on this thread and on those that it starts. */
  public static <T> T call(Callable<T> work) throws Exception {
    AtomicBoolean running = new AtomicBoolean(true);
    RUNNING.set(running);
    try {
      return work.call();
    } finally {
      running.set(false);
      RUNNING.remove();
    }
  }

  @Override
  public FilterReply decide(ILoggingEvent event) {
    AtomicBoolean running = RUNNING.get();
    boolean isQuiet =
        running != null
            && running.get()
            && !event.getLevel().isGreaterOrEqual(Level.ERROR)
            && !isVerbose();
    return isQuiet ? FilterReply.DENY : FilterReply.NEUTRAL;
  }

  private static boolean isVerbose() {
    return LoggerFactory.getLogger("dev.warmpath").isDebugEnabled();
  }
}
