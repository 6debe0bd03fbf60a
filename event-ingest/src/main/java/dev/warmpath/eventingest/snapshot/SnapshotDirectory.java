package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.OwnerOnly;
import dev.warmpath.eventingest.snapshot.IngestSnapshot.Bounds;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.snapshot.SnapshotException;
import dev.warmpath.kvindex.snapshot.SnapshotException.Reason;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
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
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which one process, and no other, keeps its last two snapshots; anyone may read
 * them.
 *
 * <p>A snapshot is there as a whole or not at all: it is written to a file of another name, forced
 * to the disk, and then renamed. If that fails, the earlier ones stay as they are. Only the owner
 * may read it.
 *
 * <p>Thread-safe.
 */
public final class SnapshotDirectory implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotDirectory.class);

  static final String NEWEST = "index.wpsnap";
  static final String PREVIOUS = "index.wpsnap.1";
  static final String UNFINISHED = "index.wpsnap.tmp";
  static final String LOCK = "lock";

  /** A lock of the system does not tell two owners in one process apart. */
  private static final Set<Path> OWNED = ConcurrentHashMap.newKeySet();

  private final Path directory;
  private final Map<Reason, Integer> refused = new ConcurrentHashMap<>();
  private @Nullable FileChannel lockFile;

  /** What writes a snapshot. */
  public interface Content {

    /** Writes all of it. */
    void writeTo(OutputStream out) throws IOException;
  }

  /** Another router keeps its snapshots in the directory. */
  public static final class InUseException extends IOException {

    private static final long serialVersionUID = 1L;

    InUseException(Path directory, String process) {
      super(directory + " is in use by another router, process " + process);
    }
  }

  private SnapshotDirectory(Path directory) {
    this.directory = directory;
  }

  /** The directory is made if it is not there. */
  public static SnapshotDirectory open(Path path) throws IOException {
    Files.createDirectories(path);
    return new SnapshotDirectory(path.toRealPath());
  }

  /**
   * Takes the directory if this object has not yet, and removes what a process that was killed has
   * left unfinished.
   *
   * @throws InUseException if another router has it
   */
  public synchronized void take() throws IOException {
    if (lockFile != null) {
      return;
    }
    if (!OWNED.add(directory)) {
      throw new InUseException(directory, owner());
    }
    try {
      lockFile = lock(directory);
      Files.deleteIfExists(directory.resolve(UNFINISHED));
      force(directory);
    } catch (IOException | RuntimeException e) {
      close();
      OWNED.remove(directory); // where it could not even be locked
      throw e;
    }
  }

  /** Whether it was taken. */
  public synchronized boolean isTaken() {
    return lockFile != null;
  }

  /** This process, for people who look for it: in a container its number alone says little. */
  private static String owner() {
    String host = System.getenv("HOSTNAME");
    return ProcessHandle.current().pid() + (host == null ? "" : " on " + host);
  }

  private static FileChannel lock(Path directory) throws IOException {
    Path file = directory.resolve(LOCK);
    FileChannel channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE),
            OwnerOnly.attributes(file));
    FileLock lock;
    try {
      lock = channel.tryLock();
    } catch (IOException e) {
      channel.close();
      throw new IOException(file + " cannot be locked: " + e.getMessage(), e);
    } catch (RuntimeException e) {
      channel.close();
      throw e;
    }
    if (lock == null) {
      channel.close();
      throw new InUseException(directory, Files.readString(file).strip());
    }
    channel.truncate(0);
    channel.write(ByteBuffer.wrap((owner() + "\n").getBytes(StandardCharsets.UTF_8)));
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

  /**
   * Reads the newest snapshot that can be used; null if there is none. Those that cannot are
   * counted and told of in the log.
   *
   * @param index never had an engine; becomes what was written, or stays empty
   */
  public @Nullable IngestSnapshot read(RunKvIndex index, Bounds bounds) {
    for (Path file : snapshots()) {
      try {
        return read(file, index, bounds);
      } catch (SnapshotException e) {
        refused.merge(e.reason(), 1, Integer::sum);
        LOG.warn("snapshot {} is refused, {}: {}", file, e.reason().label(), e.getMessage());
      }
    }
    return null;
  }

  /** How many snapshots were refused, by reason. */
  public Map<Reason, Integer> refused() {
    return Map.copyOf(refused);
  }

  private static IngestSnapshot read(Path file, RunKvIndex index, Bounds bounds)
      throws SnapshotException {
    try (InputStream in = new BufferedInputStream(new FileInputStream(file.toFile()))) {
      long bytes = Files.size(file);
      if (bytes > bounds.maxBytes()) {
        throw new SnapshotException(
            Reason.TOO_LARGE, bytes + " bytes, at most " + bounds.maxBytes());
      }
      return IngestSnapshot.readFrom(in, index, bounds);
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      throw new SnapshotException(Reason.UNREADABLE, String.valueOf(e.getMessage()));
    } catch (RuntimeException e) { // a start must not fail for a file that it can do without
      LOG.error("snapshot {} was read wrongly", file, e);
      throw new SnapshotException(Reason.DAMAGED, e.toString());
    }
  }

  /**
   * Makes {@code content} the newest snapshot, in a directory that this object takes if it has not
   * yet; returns its bytes.
   *
   * @throws InUseException if another router has it
   */
  public synchronized long replace(Content content) throws IOException {
    take();
    Path unfinished = directory.resolve(UNFINISHED);
    long bytes;
    try {
      bytes = write(unfinished, content);
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

  private static long write(Path file, Content content) throws IOException {
    Files.deleteIfExists(file); // left by an Error, perhaps with other permissions
    try (FileChannel channel =
        FileChannel.open(
            file,
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
            OwnerOnly.attributes(file))) {
      OutputStream out = new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
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
    FileChannel held = lockFile;
    if (held == null) {
      return; // it may be somebody else's
    }
    lockFile = null;
    try {
      held.close();
    } catch (IOException e) {
      // the process' end will do it
    } finally {
      OWNED.remove(directory);
    }
  }
}
