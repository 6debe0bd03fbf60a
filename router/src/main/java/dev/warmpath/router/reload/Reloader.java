package dev.warmpath.router.reload;

import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.FileWatch;
import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.metrics.Metric;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts another configuration in the place of the one that holds: all of its reloadable keys or, if
 * anything is wrong with it, none. Others keep their values until a restart.
 *
 * <p>Thread-safe; one reload at a time.
 */
public final class Reloader {

  private static final Logger LOG = LoggerFactory.getLogger(Reloader.class);

  /** What the watch calls the configuration's file. */
  private static final String WATCHED = "reload.watch";

  /** Applies a configuration. */
  @FunctionalInterface
  public interface Apply {

    /**
     * Does all that follows from {@code now}; if it throws, nothing was changed.
     *
     * @param before what holds
     */
    void apply(RouterConfig before, RouterConfig now);
  }

  private final ConfigLoader loader;
  private final RunningConfig running;
  private final Apply apply;
  private final MeterRegistry meters;

  /**
   * @param running what holds; changed here alone
   * @param meters count every reload
   * @param files watches the configuration's file
   */
  public Reloader(
      ConfigLoader loader,
      RunningConfig running,
      Apply apply,
      MeterRegistry meters,
      FileWatch files) {
    this.loader = loader;
    this.running = running;
    this.apply = apply;
    this.meters = meters;
    Path file = loader.file();
    if (file != null) {
      files.follow(
          WATCHED,
          file,
          () -> running.get().reload().watch(),
          contents -> changed(file, contents.get(0)));
    }
  }

  /**
   * Reads the configuration and applies it.
   *
   * @param why what the log says
   */
  public ReloadResult reload(String why) {
    return reload(why, null);
  }

  private synchronized ReloadResult reload(String why, byte @Nullable [] content) {
    ReloadResult result = attempt(content);
    log(why, result);
    Metric.CONFIG_RELOADS_TOTAL.counter(meters, result.label()).increment();
    return result;
  }

  private ReloadResult attempt(byte @Nullable [] content) {
    RouterConfig before = running.get();
    try {
      RouterConfig next = loader.load(before, content);
      RouterConfig now = ConfigChanges.reloaded(before, next);
      apply.apply(before, now);
      running.set(now);
      return ReloadResult.of(ConfigChanges.between(before, next));
    } catch (ConfigException e) {
      return ReloadResult.refused(e.problems());
    } catch (IllegalArgumentException e) { // as of a file that a new replica needs
      LOG.debug("which the result says", e);
      return ReloadResult.refused(List.of(String.valueOf(e.getMessage())));
    } catch (RuntimeException e) {
      LOG.error("a configuration could not be applied", e);
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

  private void changed(Path file, byte[] content) throws IOException {
    ReloadResult result = reload(file + " has changed", content);
    if (!result.problems().isEmpty()) {
      throw new IOException("refused: " + String.join("; ", result.problems()));
    }
  }
}
