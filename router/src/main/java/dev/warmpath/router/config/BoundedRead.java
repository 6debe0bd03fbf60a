package dev.warmpath.router.config;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Reads small files that belong together, in bounded time: regular files only, by a thread of their
 * own, so that a mount that hangs holds up nobody who asks. While one reading hangs, no other one
 * of the same files is begun.
 *
 * <p>Confined to one thread at a time.
 */
public final class BoundedRead {

  /** Reads one file, however long it takes. */
  @FunctionalInterface
  interface Reader {
    byte[] read(Path file) throws IOException;
  }

  static final long LIMIT_MILLIS = 5_000;

  private static final int MAX_BYTES = 16 << 20;
  private static final int READERS = 64;
  private static final int MAX_WAITING = 10_000;
  private static final ExecutorService THREADS = threads();

  private final List<Path> files;
  private final Reader reader;
  private final long limitMillis;
  private @Nullable Future<List<byte[]>> running;
  private long begunNanos;

  BoundedRead(List<Path> files, Reader reader, long limitMillis) {
    this.files = List.copyOf(files);
    this.reader = reader;
    this.limitMillis = limitMillis;
  }

  private static ExecutorService threads() {
    ThreadPoolExecutor threads =
        new ThreadPoolExecutor(
            READERS,
            READERS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MAX_WAITING),
            work -> {
              Thread thread = new Thread(work, "warmpath-file-reader");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /**
   * Reads a file now.
   *
   * @throws IOException if it cannot be read in time, or holds nothing; its message names the file
   */
  public static byte[] now(Path file) throws IOException {
    BoundedRead read = new BoundedRead(List.of(file), BoundedRead::regular, LIMIT_MILLIS);
    try {
      return read.await().get(0);
    } finally {
      read.cancel();
    }
  }

  /** Begins to read, unless an earlier reading has not ended. */
  void begin() throws IOException {
    if (running == null) {
      begunNanos = System.nanoTime();
      try {
        running = THREADS.submit(this::all);
      } catch (RejectedExecutionException e) {
        throw new IOException(files.get(0) + ": too many files wait to be read", e);
      }
    }
  }

  /** What the files hold, in their order. */
  List<byte[]> await() throws IOException {
    begin();
    Future<List<byte[]>> reading = running;
    if (reading == null) {
      throw new IllegalStateException("not begun");
    }
    try {
      List<byte[]> contents = reading.get(remainingNanos(), TimeUnit.NANOSECONDS);
      running = null;
      return contents;
    } catch (ExecutionException e) {
      running = null;
      throw failure(e.getCause());
    } catch (TimeoutException e) {
      throw new IOException(
          "%s: not read within %d ms; does its file system hang?"
              .formatted(files.get(0), limitMillis),
          e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(files.get(0) + ": interrupted", e);
    }
  }

  private long remainingNanos() {
    long passed = System.nanoTime() - begunNanos;
    return Math.max(0, TimeUnit.MILLISECONDS.toNanos(limitMillis) - passed);
  }

  private static IOException failure(@Nullable Throwable cause) {
    return cause instanceof IOException e ? e : new IOException(String.valueOf(cause), cause);
  }

  private void cancel() {
    if (running != null) {
      running.cancel(true);
    }
  }

  private List<byte[]> all() throws IOException {
    List<byte[]> contents = new ArrayList<>();
    for (Path file : files) {
      byte[] bytes = reader.read(file);
      if (isBlank(bytes)) {
        throw new IOException(file + ": is empty");
      }
      contents.add(bytes);
    }
    return contents;
  }

  /** Blocks of a file whose writing a crash has cut off are zeros. */
  private static boolean isBlank(byte[] bytes) {
    for (byte b : bytes) {
      if (b < 0 || b > ' ') {
        return false;
      }
    }
    return true;
  }

  /** Opening a pipe waits for its writer, and what was read from it is gone. */
  static byte[] regular(Path file) throws IOException {
    byte[] bytes;
    try {
      if (!Files.readAttributes(file, BasicFileAttributes.class).isRegularFile()) {
        throw new IOException(file + ": not a regular file");
      }
      bytes = bytes(file);
    } catch (NoSuchFileException e) {
      throw new IOException(file + ": no such file", e);
    }
    if (bytes.length > MAX_BYTES) {
      throw new IOException(file + ": larger than " + (MAX_BYTES >> 20) + " MiB");
    }
    return bytes;
  }

  private static byte[] bytes(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return in.readNBytes(MAX_BYTES + 1);
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException(file + ": cannot be read: " + e.getMessage(), e);
    }
  }
}
