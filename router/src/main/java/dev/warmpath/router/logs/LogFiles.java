package dev.warmpath.router.logs;

import dev.warmpath.eventingest.OwnerOnly;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The files of the log: {@code FILE} is written, {@code FILE.1} is the one before, and so on. A
 * file that was left behind is continued; a half line at its end, left by a process that was
 * killed, is cut off. Only their owner may read those that are made here.
 *
 * <p>Confined to the log's thread, except {@link #bytes}.
 */
final class LogFiles {

  private static final int TAIL_BYTES = 1 << 20;

  private final Path file;
  private final long maxBytes;
  private final int keep;
  private volatile long earlierBytes;
  private final AtomicLong currentBytes = new AtomicLong();
  private @Nullable OutputStream current;

  /**
   * @param maxBytes bound of a file
   * @param keep files that are kept, the current one too; at least 1
   */
  LogFiles(Path file, long maxBytes, int keep) {
    this.file = file.toAbsolutePath();
    this.maxBytes = maxBytes;
    this.keep = keep;
  }

  @Override
  public String toString() {
    return file.toString();
  }

  boolean isOpen() {
    return current != null;
  }

  /** Opens the current file at its end. */
  void open() throws IOException {
    Path directory = file.getParent();
    if (directory != null) {
      Files.createDirectories(directory);
    }
    FileChannel channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
            OwnerOnly.attributes(file));
    try {
      lock(channel);
      channel.truncate(endOfLines(channel));
      channel.position(channel.size());
      currentBytes.set(channel.size());
      earlierBytes = earlierBytes();
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    current = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
  }

  private void lock(FileChannel channel) throws IOException {
    try {
      if (channel.tryLock() != null) {
        return;
      }
    } catch (OverlappingFileLockException e) {
      // this process has it already
    }
    throw new IOException(file + ": another router writes it");
  }

  /** Where the last whole line ends. */
  private static long endOfLines(FileChannel channel) throws IOException {
    long size = channel.size();
    long from = Math.max(0, size - TAIL_BYTES);
    ByteBuffer tail = ByteBuffer.allocate((int) (size - from));
    while (tail.hasRemaining() && channel.read(tail, from + tail.position()) > 0) {}
    int at = tail.position() - 1;
    while (at >= 0 && tail.get(at) != '\n') {
      at--;
    }
    return from + at + 1;
  }

  /** Whether a line of so many bytes belongs into the next file. */
  boolean isFullFor(int bytes) {
    return currentBytes.get() > 0 && currentBytes.get() + bytes > maxBytes;
  }

  /** Begins the next file, and deletes the oldest if there are too many. */
  void rotate() throws IOException {
    close();
    int oldest = keep - 1;
    while (Files.deleteIfExists(numbered(oldest))) {
      oldest++; // more were kept before
    }
    for (int number = keep - 2; number >= 0; number--) {
      if (Files.exists(numbered(number))) {
        Files.move(numbered(number), numbered(number + 1), StandardCopyOption.REPLACE_EXISTING);
      }
    }
    open();
  }

  private Path numbered(int number) {
    return number == 0 ? file : file.resolveSibling(file.getFileName() + "." + number);
  }

  private long earlierBytes() throws IOException {
    long bytes = 0;
    for (int number = 1; number < keep && Files.exists(numbered(number)); number++) {
      bytes += Files.size(numbered(number));
    }
    return bytes;
  }

  /** Adds a line to what the next {@link #flush} brings to the system. */
  void write(byte[] line) throws IOException {
    if (current == null) {
      throw new IOException(file + ": not open");
    }
    current.write(line);
    currentBytes.addAndGet(line.length);
  }

  void flush() throws IOException {
    if (current != null) {
      current.flush();
    }
  }

  void close() throws IOException {
    OutputStream open = current;
    current = null;
    if (open != null) {
      open.close();
    }
  }

  /** Bytes of all files. */
  long bytes() {
    return earlierBytes + currentBytes.get();
  }
}
