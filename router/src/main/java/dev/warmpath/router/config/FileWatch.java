package dev.warmpath.router.config;

import dev.warmpath.router.config.FileContents.Loader;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads files again when their contents change, by looking at an interval, so that renames and
 * links are followed. New contents that cannot be used change nothing: the last good ones stay, and
 * that is logged and counted. Files that hang hold up the others once, for {@link
 * BoundedRead#LIMIT_MILLIS} together.
 *
 * <p>Thread-safe.
 */
public final class FileWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(FileWatch.class);

  /** A file that is just being replaced may be missing or empty for one look. */
  private static final int LOOKS_UNTIL_STALE = 2;

  /** Files that are only good together. */
  private static final class Entry {
    private final String name;
    private final FileContents files;
    private final BooleanSupplier watched;
    private final Loader loader;
    private int failedLooks;
    private volatile WatchedFile status;

    Entry(String name, FileContents files, BooleanSupplier watched, Loader loader) {
      this.name = name;
      this.files = files;
      this.watched = watched;
      this.loader = loader;
      this.status = new WatchedFile(name, null, 0, 0);
    }

    void begin() {
      try {
        if (watched.getAsBoolean()) {
          files.begin();
        }
      } catch (IOException e) {
        LOG.debug("which the look will say", e);
      }
    }

    void look() {
      if (!watched.getAsBoolean()) {
        return;
      }
      try {
        switch (files.look(loader)) {
          case TAKEN -> good(true);
          case SAME -> good(false);
          case UNCONFIRMED -> {}
        }
      } catch (IOException e) {
        failedLooks++;
        if (files.isRefused() || failedLooks >= LOOKS_UNTIL_STALE) {
          failed(String.valueOf(e.getMessage()));
        }
      } catch (Error e) { // only of this file: the others are looked at
        failed(e.toString());
      }
    }

    private void good(boolean taken) {
      WatchedFile before = status;
      if (taken) {
        LOG.info("{}: read again", name);
      } else if (before.stale()) {
        LOG.info("{}: holds again what is in use", name);
      }
      failedLooks = 0;
      if (taken || before.stale()) {
        status = new WatchedFile(name, null, before.reloads() + (taken ? 1 : 0), before.failures());
      }
    }

    private void failed(String why) {
      WatchedFile before = status;
      if (!why.equals(before.problem())) {
        status = new WatchedFile(name, why, before.reloads(), before.failures() + 1);
        LOG.warn("{}: {}; what was read before stays in use", name, why);
      }
    }
  }

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread looking = new Thread(work, "warmpath-files");
        looking.setDaemon(true);
        return looking;
      });

  private final Map<String, Entry> entries = new ConcurrentHashMap<>();

  /**
   * A watch over nothing yet.
   *
   * @param pollMs time between two looks
   */
  public FileWatch(int pollMs) {
    var unused = thread.scheduleWithFixedDelay(this::look, pollMs, pollMs, TimeUnit.MILLISECONDS);
  }

  /**
   * Reads files now, and again when one of them changes.
   *
   * @param name the configuration key that names them
   * @param loader called by this thread now, later by the watch's own
   * @throws IOException if they cannot be used now; its message names the key
   */
  public void add(String name, List<Path> files, Loader loader) throws IOException {
    add(name, new FileContents(files), loader);
  }

  void add(String name, FileContents files, Loader loader) throws IOException {
    try {
      var unused = files.look(loader);
    } catch (IOException e) {
      throw new IOException(name + ": " + e.getMessage(), e);
    }
    entries.put(name, new Entry(name, files, () -> true, loader));
  }

  /**
   * Gives {@code loader} a file's contents when they are others than now.
   *
   * @param watched whether the file is looked at, asked before each look
   */
  public void follow(String name, Path file, BooleanSupplier watched, Loader loader) {
    FileContents files = new FileContents(List.of(file));
    try {
      var unused = files.look(now -> {});
    } catch (IOException e) {
      LOG.debug("whatever it holds later is new", e);
    }
    entries.put(name, new Entry(name, files, watched, loader));
  }

  /** Watches the files of {@code name} no more. */
  public void remove(String name) {
    entries.remove(name);
  }

  /** How the entries stand that are watched. */
  public List<WatchedFile> status() {
    return entries.values().stream()
        .filter(entry -> entry.watched.getAsBoolean())
        .map(entry -> entry.status)
        .toList();
  }

  /** All files are read at once, so that those that hang do so together. */
  private void look() {
    try {
      entries.values().forEach(Entry::begin);
      entries.values().forEach(Entry::look);
    } catch (RuntimeException | Error e) { // would end all looks to come
      LOG.error("watched files could not be looked at", e);
    }
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }

  /** How the files stand, for a scrape. */
  public void collect(MetricValues to) {
    for (WatchedFile file : status()) {
      to.add(Metric.WATCHED_FILE_STALE, file.stale() ? 1 : 0, file.name());
      to.add(Metric.WATCHED_FILE_CHANGES_TOTAL, file.reloads(), file.name(), "read");
      to.add(Metric.WATCHED_FILE_CHANGES_TOTAL, file.failures(), file.name(), "failed");
    }
  }

  /**
   * How a watched entry stands.
   *
   * <p>Immutable.
   *
   * @param name the configuration key that names it
   * @param problem why what the files hold now cannot be used, so that older contents are; null for
   *     none
   * @param reloads changes that were taken over
   * @param failures changes that were not
   */
  public record WatchedFile(String name, @Nullable String problem, long reloads, long failures) {

    /** Whether older contents are in use than the files hold. */
    public boolean stale() {
      return problem != null;
    }
  }
}
