package dev.warmpath.router.tokenize.hub;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/**
 * Lets one process, and one thread of it, download a model at a time. It only saves work: on a file
 * system without locks each downloads for itself, and the cache stays right.
 *
 * <p>Confined to the thread that downloads.
 */
final class HubLock implements AutoCloseable {

  private static final long POLL_MILLIS = 250;

  private final FileChannel channel;
  private final boolean alone;

  private HubLock(FileChannel channel, boolean alone) {
    this.channel = channel;
    this.alone = alone;
  }

  /** Waits until nobody else has it. */
  static HubLock take(Path file, Retries retries) throws IOException, InterruptedException {
    Files.createDirectories(HubCache.parent(file));
    FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    try {
      Boolean alone = tryLock(channel);
      while (alone == null) {
        if (retries.isLate()) {
          throw HubFailure.lasting("another process has been downloading it all the time");
        }
        retries.pause(POLL_MILLIS);
        alone = tryLock(channel);
      }
      return new HubLock(channel, alone);
    } catch (IOException | InterruptedException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Whether it was got; null: not yet. */
  private static @Nullable Boolean tryLock(FileChannel channel) {
    try {
      FileLock lock = channel.tryLock();
      return lock == null ? null : Boolean.TRUE;
    } catch (OverlappingFileLockException e) {
      return null;
    } catch (IOException e) {
      return Boolean.FALSE;
    }
  }

  /** Whether nobody else downloads the model. */
  boolean isAlone() {
    return alone;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
