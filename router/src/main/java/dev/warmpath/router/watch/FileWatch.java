package dev.warmpath.router.watch;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
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
  private static final int MAX_BYTES = 16 << 20;

  /** Files that are only good together. */
  private static final class Entry {
    private final String name;
    private final List<Path> files;
    private final Loader loader;
    private List<byte[]> seen = List.of();
    private @Nullable String problem;
    private volatile WatchedFile status;

    Entry(String name, List<Path> files, Loader loader) {
      this.name = name;
      this.files = files;
      this.loader = loader;
      this.status = new WatchedFile(name, false, 0, 0);
    }

    void begin() throws IOException {
      seen = contents();
      loader.load(seen);
    }

    private List<byte[]> contents() throws IOException {
      List<byte[]> contents = new ArrayList<>();
      for (Path file : files) {
        contents.add(read(file));
      }
      return contents;
    }

    private static byte[] read(Path file) throws IOException {
      try (InputStream in = Files.newInputStream(file)) {
        byte[] bytes = in.readNBytes(MAX_BYTES + 1);
        if (bytes.length > MAX_BYTES) {
          throw new IOException(file + ": larger than " + MAX_BYTES + " bytes");
        }
        return bytes;
      } catch (NoSuchFileException e) {
        throw new IOException(file + ": no such file", e);
      } catch (FileSystemException e) {
        throw new IOException(file + ": cannot be read", e);
      }
    }

    synchronized void look() {
      List<byte[]> now;
      try {
        now = contents();
      } catch (IOException e) {
        seen = List.of(); // so that the same contents are taken over again when they are back
        failed(String.valueOf(e.getMessage()));
        return;
      }
      if (!isSame(now)) {
        seen = now;
        take(now);
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

    private boolean isSame(List<byte[]> now) {
      boolean same = now.size() == seen.size();
      for (int i = 0; same && i < now.size(); i++) {
        same = Arrays.equals(now.get(i), seen.get(i));
      }
      return same;
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
    Entry entry = new Entry(name, List.copyOf(files), loader);
    try {
      entry.begin();
    } catch (IOException e) {
      throw new IOException(name + ": " + e.getMessage(), e);
    }
    entries.put(name, entry);
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
