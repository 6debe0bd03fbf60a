package dev.warmpath.router.reload;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.config.read.ConfigException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts another configuration in the place of the one that holds: all of its reloadable keys or, if
 * anything is wrong with it, none. Others keep their values until a restart.
 *
 * <p>Thread-safe; one reload at a time.
 */
public final class Reloader implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Reloader.class);
  private static final long LOOK_SECONDS = 2;

  /** Makes a configuration hold. */
  @FunctionalInterface
  public interface Apply {

    /**
     * Does all that follows from {@code now}; if it throws, nothing.
     *
     * @param before what holds
     */
    void apply(RouterConfig before, RouterConfig now);
  }

  private final ConfigLoader loader;
  private final RunningConfig running;
  private final Apply apply;
  private final Consumer<ReloadResult> done;
  private final @Nullable ScheduledExecutorService thread;
  private byte @Nullable [] seen;

  /**
   * @param running what holds; changed here alone
   * @param done hears of every reload
   */
  public Reloader(
      ConfigLoader loader,
      RunningConfig running,
      Apply apply,
      Consumer<ReloadResult> done,
      ThreadFactory threads) {
    this.loader = loader;
    this.running = running;
    this.apply = apply;
    this.done = done;
    Path file = loader.file();
    this.seen = file == null ? null : content(file);
    this.thread = file == null ? null : Executors.newSingleThreadScheduledExecutor(threads);
    if (thread != null && file != null) {
      var unused =
          thread.scheduleWithFixedDelay(
              () -> look(file), LOOK_SECONDS, LOOK_SECONDS, TimeUnit.SECONDS);
    }
  }

  /**
   * Reads the configuration and makes it hold.
   *
   * @param why what the log says
   */
  public synchronized ReloadResult reload(String why) {
    ReloadResult result = attempt();
    log(why, result);
    done.accept(result);
    return result;
  }

  private ReloadResult attempt() {
    RouterConfig before = running.get();
    try {
      RouterConfig next = loader.load();
      RouterConfig now = ConfigChanges.reloaded(before, next);
      apply.apply(before, now);
      running.set(now);
      return ReloadResult.of(ConfigChanges.between(before, next));
    } catch (ConfigException e) {
      return ReloadResult.refused(e.problems());
    } catch (RuntimeException e) {
      LOG.error("a configuration could not be made to hold", e);
      return ReloadResult.refused(List.of("internal error: " + e.getMessage()));
    }
  }

  private static void log(String why, ReloadResult result) {
    if (!result.problems().isEmpty()) {
      LOG.warn("{}: the configuration stays as it is", why);
      result.problems().forEach(LOG::warn);
      return;
    }
    LOG.info("{}: the configuration has {} changes", why, result.applied().size());
    for (ConfigChange change : result.applied()) {
      LOG.info("{}", change);
    }
    for (ConfigChange change : result.needsRestart()) {
      LOG.warn("needs a restart: {}", change);
    }
  }

  /** Looks at the content: files and links to them are replaced in many ways. */
  private void look(Path file) {
    byte[] now = content(file);
    if (now != null && !Arrays.equals(now, seen)) {
      seen = now;
      if (running.get().reload().watch()) {
        reload(file + " has changed");
      }
    }
  }

  /** Null if it cannot be read, as when it is just being replaced. */
  private static byte @Nullable [] content(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      return null;
    }
  }

  @Override
  public void close() {
    if (thread != null) {
      thread.shutdownNow();
    }
  }
}
