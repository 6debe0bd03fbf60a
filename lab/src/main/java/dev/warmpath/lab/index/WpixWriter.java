package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StoredBlocks;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes the records that it is fed into a WPIX file, which it replaces.
 *
 * <p>A corpus whose workers have several groups cannot be expressed and is refused. Problems with
 * the file are thrown as {@link UncheckedIOException}.
 *
 * <p>Confined to one thread.
 */
final class WpixWriter implements CorpusSink, Closeable {

  private final SeekableByteChannel channel;
  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);

  private WpixWriter(SeekableByteChannel channel) {
    this.channel = channel;
    buffer.putInt(Wpix.MAGIC).putInt(Wpix.VERSION);
  }

  /** Begins {@code file}. */
  static WpixWriter create(Path file) throws IOException {
    return new WpixWriter(
        Files.newByteChannel(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE));
  }

  @Override
  public void stored(int worker, StoredBlocks blocks) {
    refuseGroup(blocks.group());
    begin(Wpix.STORE, worker).putLong(blocks.atRoot() ? 0 : blocks.parent()).putInt(blocks.count());
    for (int i = 0; i < blocks.count(); i++) {
      room(2 * Long.BYTES).putLong(blocks.engineHash(i)).putLong(blocks.localHash(i));
    }
  }

  @Override
  public void removed(int worker, RemovedBlocks blocks) {
    refuseGroup(blocks.group());
    begin(Wpix.REMOVE, worker).putInt(blocks.count());
    for (int i = 0; i < blocks.count(); i++) {
      room(Long.BYTES).putLong(blocks.engineHash(i));
    }
  }

  @Override
  public void cleared(int worker) {
    begin(Wpix.CLEAR, worker);
  }

  @Override
  public void query(int worker, long[] localHashes, int count) {
    begin(Wpix.QUERY, worker).putInt(count);
    for (int i = 0; i < count; i++) {
      room(Long.BYTES).putLong(localHashes[i]);
    }
  }

  @Override
  public void close() throws IOException {
    try (channel) {
      drain();
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void refuseGroup(int group) {
    if (group != 0) {
      throw new IllegalArgumentException("WPIX v1 has no groups: group=" + group);
    }
  }

  private ByteBuffer begin(int kind, int worker) {
    return room(32).put((byte) kind).putInt(worker);
  }

  private ByteBuffer room(int bytes) {
    if (buffer.remaining() < bytes) {
      drain();
    }
    return buffer;
  }

  private void drain() {
    buffer.flip();
    try {
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    buffer.clear();
  }
}
