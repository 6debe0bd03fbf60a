package dev.warmpath.router.config;

import dev.warmpath.router.config.ConfigChanges.ConfigChange;
import dev.warmpath.router.metrics.Metric;
import io.micrometer.core.instrument.MeterRegistry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Supplier;
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

  /**
   * The configuration that holds at the moment.
   *
   * <p>Single writer, many readers.
   */
  public static final class RunningConfig implements Supplier<RouterConfig> {

    private volatile RouterConfig now;

    public RunningConfig(RouterConfig start) {
      this.now = start;
    }

    @Override
    public RouterConfig get() {
      return now;
    }

    void set(RouterConfig next) {
      now = next;
    }
  }

  /** Reads the configuration as it was read at the start. Implementations are thread-safe. */
  public interface ConfigLoader {

    /** Of a process whose configuration cannot be read anew. */
    ConfigLoader NONE =
        (running, content) -> {
          throw new ConfigException(List.of("this process has no configuration to read anew"));
        };

    /**
     * Reads it, with flags and all. A {@code reload.watch} that runs goes on unless it is switched
     * off in so many words: what is left out may only be missing for a moment.
     *
     * @param content of its file; null to read that now
     */
    RouterConfig load(RouterConfig running, byte @Nullable [] content) throws ConfigException;

    /** The file in which it is; null for none. */
    default @Nullable Path file() {
      return null;
    }
  }

  /**
   * What came of a reload: problems, and nothing was changed, or changes.
   *
   * @param applied what holds now
   * @param needsRestart what another configuration says and a reload cannot change
   */
  public record ReloadResult(
      List<String> problems, List<ConfigChange> applied, List<ConfigChange> needsRestart) {

    public ReloadResult {
      problems = List.copyOf(problems);
      applied = List.copyOf(applied);
      needsRestart = List.copyOf(needsRestart);
    }

    static ReloadResult refused(List<String> problems) {
      return new ReloadResult(problems, List.of(), List.of());
    }

    static ReloadResult of(List<ConfigChange> changes) {
      return new ReloadResult(
          List.of(),
          changes.stream().filter(ConfigChange::reloadable).toList(),
          changes.stream().filter(change -> !change.reloadable()).toList());
    }

    /** In a word, for metrics. */
    public String label() {
      return !problems.isEmpty() ? "refused" : applied.isEmpty() ? "unchanged" : "applied";
    }
  }
}
