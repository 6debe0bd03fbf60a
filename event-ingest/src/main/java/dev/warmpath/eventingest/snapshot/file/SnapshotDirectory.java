package dev.warmpath.eventingest.snapshot.file;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The directory in which one process, and no other, keeps its last two snapshots.
 *
 * <p>A snapshot is there as a whole or not at all: it is written to a file of another name, forced
 * to the disk, and then renamed. If that fails, the earlier ones stay as they are.
 *
 * <p>Thread-safe.
 */
public final class SnapshotDirectory implements AutoCloseable {

  static final String NEWEST = "index.wpsnap";
  static final String PREVIOUS = "index.wpsnap.1";
  static final String UNFINISHED = "index.wpsnap.tmp";
  static final String LOCK = "lock";

  /** A lock of the system does not tell two owners in one process apart. */
  private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();

  private final Path directory;
  private final FileChannel lockFile;

  /** What writes a snapshot. */
  public interface Content {

    /** Writes all of it. */
    void writeTo(OutputStream out) throws IOException;
  }

  private SnapshotDirectory(Path directory, FileChannel lockFile) {
    this.directory = directory;
    this.lockFile = lockFile;
  }

  /**
   * Takes the directory, which is made if it is not there, and removes what a process that was
   * killed has left unfinished.
   *
   * @throws DirectoryInUseException if another router has it
   */
  public static SnapshotDirectory open(Path path) throws IOException {
    Files.createDirectories(path);
    Path directory = path.toRealPath();
    if (!OWNED.add(directory)) {
      throw new DirectoryInUseException(directory, ProcessHandle.current().pid() + "");
    }
    try {
      FileChannel lockFile = lock(directory);
      SnapshotDirectory opened = new SnapshotDirectory(directory, lockFile);
      Files.deleteIfExists(directory.resolve(UNFINISHED));
      force(directory);
      return opened;
    } catch (IOException | RuntimeException e) {
      OWNED.remove(directory);
      throw e;
    }
  }

  private static FileChannel lock(Path directory) throws IOException {
    Path file = directory.resolve(LOCK);
    FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
    if (lock == null) {
      channel.close();
      throw new DirectoryInUseException(directory, Files.readString(file).strip());
    }
    channel.truncate(0);
    channel.write(
        ByteBuffer.wrap(
            (ProcessHandle.current().pid() + "\n").getBytes(StandardCharsets.US_ASCII)));
    return channel;
  }

  /** The directory itself. */
  public Path path() {
    return directory;
  }

  /** The snapshots that are there, the newest first. */
  public List<Path> snapshots() {
    return List.of(directory.resolve(NEWEST), directory.resolve(PREVIOUS)).stream()
        .filter(Files::exists)
        .toList();
  }

  /** Makes {@code content} the newest snapshot; returns its bytes. */
  public synchronized long replace(Content content, long maxBytes) throws IOException {
    Path unfinished = directory.resolve(UNFINISHED);
    long bytes;
    try {
      bytes = write(unfinished, content, maxBytes);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(unfinished);
      throw e;
    }
    Path newest = directory.resolve(NEWEST);
    if (Files.exists(newest)) {
      move(newest, directory.resolve(PREVIOUS));
    }
    move(unfinished, newest);
    force(directory);
    return bytes;
  }

  private static long write(Path file, Content content, long maxBytes) throws IOException {
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      OutputStream out =
          new BufferedOutputStream(
              new BoundedOutput(Channels.newOutputStream(channel), maxBytes), 1 << 16);
      content.writeTo(out);
      out.flush();
      channel.force(true);
      return channel.position();
    }
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Without this a power failure may undo the renaming. Some systems cannot. */
  private static void force(Path directory) {
    try (FileChannel channel = FileChannel.open(directory, StandardOpenOption.READ)) {
      channel.force(true);
    } catch (IOException e) {
      // the snapshot is there; what cannot be forced stays with the system
    }
  }

  /** Gives the directory to whoever wants it next. */
  @Override
  public synchronized void close() {
    if (!lockFile.isOpen()) {
      return; // it may be somebody else's by now
    }
    try {
      lockFile.close();
    } catch (IOException e) {
      // the process' end will do it
    } finally {
      OWNED.remove(directory);
    }
  }
}
