package dev.warmpath.router.watch;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads files again when their contents change, by looking at an interval, so that renames and
 * links are followed. New contents that cannot be used change nothing: the last good ones stay, and
 * that is logged and counted.
 *
 * <p>Thread-safe.
 */
public final class FileWatch implements AutoCloseable {

  /** Takes over the contents of the files of one entry, all or nothing. */
  @FunctionalInterface
  public interface Loader {

    /**
     * Takes them over.
     *
     * @param contents one for each file, in their order
     * @throws IOException if they cannot be used; its message says why and holds no secrets
     */
    void load(List<byte[]> contents) throws IOException;
  }

  private static final Logger LOG = LoggerFactory.getLogger(FileWatch.class);

  /** Files that are only good together. */
  private static final class Entry {
    private final String name;
    private final FileContents files;
    private final Loader loader;
    private @Nullable String problem;
    private volatile WatchedFile status;

    Entry(String name, List<Path> files, Loader loader) {
      this.name = name;
      this.files = new FileContents(files);
      this.loader = loader;
      this.status = new WatchedFile(name, false, 0, 0);
    }

    void begin() throws IOException {
      loader.load(files.changed().orElseThrow());
    }

    synchronized void look() {
      try {
        files.changed().ifPresent(this::take);
      } catch (IOException e) {
        failed(String.valueOf(e.getMessage()));
      }
    }

    private void take(List<byte[]> contents) {
      try {
        loader.load(contents);
        problem = null;
        status = new WatchedFile(name, false, status.reloads() + 1, status.failures());
        LOG.info("{}: read again", name);
      } catch (IOException | RuntimeException e) {
        failed(String.valueOf(e.getMessage()));
      }
    }

    private void failed(String why) {
      if (!why.equals(problem)) {
        problem = why;
        status = new WatchedFile(name, true, status.reloads(), status.failures() + 1);
        LOG.error("{}: {}; what was read before stays in use", name, why);
      }
    }
  }

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(work -> {
        Thread looking = new Thread(work, "warmpath-files");
        looking.setDaemon(true);
        return looking;
      });

  private final int pollMs;
  private final Map<String, Entry> entries = new ConcurrentHashMap<>();

  /**
   * A watch over nothing yet.
   *
   * @param pollMs time between two looks
   */
  public FileWatch(int pollMs) {
    this.pollMs = pollMs;
    poll(this::look);
  }

  private void poll(Runnable look) {
    var unused = thread.scheduleWithFixedDelay(look, pollMs, pollMs, TimeUnit.MILLISECONDS);
  }

  /**
   * Reads files now, and again when one of them changes.
   *
   * @param name the configuration key that names them
   * @param loader called by this thread now, later by the watch's own
   * @throws IOException if they cannot be used now; its message names the key
   */
  public void add(String name, List<Path> files, Loader loader) throws IOException {
    Entry entry = new Entry(name, List.copyOf(files), loader);
    try {
      entry.begin();
    } catch (IOException e) {
      throw new IOException(name + ": " + e.getMessage(), e);
    }
    entries.put(name, entry);
  }

  /**
   * Runs {@code changed} by the watch's thread when the file has other contents than at the last
   * look. One that cannot be read is looked at again; {@link #status} does not show it.
   */
  public void follow(Path file, Runnable changed) {
    FileContents contents = new FileContents(List.of(file));
    look(contents, () -> {});
    poll(() -> look(contents, changed));
  }

  private static void look(FileContents contents, Runnable changed) {
    try {
      contents.changed().ifPresent(now -> changed.run());
    } catch (IOException e) {
      LOG.debug("not readable, as when it is just being replaced", e);
    }
  }

  /** Watches the files of {@code name} no more. */
  public void remove(String name) {
    entries.remove(name);
  }

  /** How the entries stand. */
  public List<WatchedFile> status() {
    return entries.values().stream().map(entry -> entry.status).toList();
  }

  private void look() {
    entries.values().forEach(Entry::look);
  }

  @Override
  public void close() {
    thread.shutdownNow();
  }
}
