package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads a WPIX file record by record.
 *
 * <p>Memory is bounded by the largest record allowed. Malformed input ends in a {@link
 * WpixException}.
 *
 * <p>Confined to one thread.
 */
final class WpixReader implements Closeable {

  private final Path file;
  private final long rootKey;
  private final SeekableByteChannel channel;
  private final ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();
  private long[] query = new long[64];
  private long readBytes;

  private WpixReader(Path file, long rootKey, SeekableByteChannel channel) {
    this.file = file;
    this.rootKey = rootKey;
    this.channel = channel;
    buffer.order(ByteOrder.LITTLE_ENDIAN).limit(0);
  }

  /** Opens {@code file}; blocks that begin a prompt hang below {@code rootKey}. */
  static WpixReader open(Path file, long rootKey) throws IOException {
    WpixReader reader = new WpixReader(file, rootKey, Files.newByteChannel(file));
    try {
      reader.header();
      return reader;
    } catch (IOException e) {
      reader.close();
      throw e;
    }
  }

  /** Hands the next record to {@code sink}; false at the end of the file. */
  boolean next(CorpusSink sink) throws IOException {
    if (!buffer.hasRemaining() && !refill()) {
      return false;
    }
    int kind = buffer.get() & 0xff;
    int worker = worker();
    switch (kind) {
      case Wpix.STORE -> store(worker, sink);
      case Wpix.REMOVE -> remove(worker, sink);
      case Wpix.QUERY -> query(worker, sink);
      case Wpix.CLEAR -> sink.cleared(worker);
      default -> throw malformed(5, "a record of kind " + kind);
    }
    return true;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }

  private void header() throws IOException {
    if (readInt("the header") != Wpix.MAGIC) {
      throw malformed(4, "no WPIX file: it does not begin with 'WPIX'");
    }
    int version = readInt("the header");
    if (version != Wpix.VERSION) {
      throw malformed(4, "version " + Integer.toUnsignedString(version) + ", not 1");
    }
  }

  private void store(int worker, CorpusSink sink) throws IOException {
    long parent = readLong("a store's parent");
    int count = count("store");
    if (parent == 0) {
      stored.atRoot(StorageTier.GPU, 0, rootKey);
    } else {
      stored.behind(StorageTier.GPU, 0, parent);
    }
    for (int i = 0; i < count; i++) {
      long engineHash = readLong("a store's blocks");
      stored.add(engineHash, readLong("a store's blocks"));
    }
    sink.stored(worker, stored);
  }

  private void remove(int worker, CorpusSink sink) throws IOException {
    int count = count("remove");
    removed.from(StorageTier.GPU, 0);
    for (int i = 0; i < count; i++) {
      removed.add(readLong("a removal's blocks"));
    }
    sink.removed(worker, removed);
  }

  private void query(int worker, CorpusSink sink) throws IOException {
    int count = count("query");
    if (count > query.length) {
      query = new long[Math.max(count, 2 * query.length)];
    }
    for (int i = 0; i < count; i++) {
      query[i] = readLong("a query's blocks");
    }
    sink.query(worker, query, count);
  }

  private int worker() throws IOException {
    int worker = readInt("a record's worker");
    if (worker < 0 || worker >= Wpix.MAX_WORKERS) {
      throw malformed(
          4,
          "worker %s, more than %d"
              .formatted(Integer.toUnsignedString(worker), Wpix.MAX_WORKERS - 1));
    }
    return worker;
  }

  private int count(String record) throws IOException {
    int count = readInt("a record's length");
    if (count < 0 || count > Wpix.MAX_BLOCKS) {
      throw malformed(
          4,
          "a %s record of %s blocks, more than %d"
              .formatted(record, Integer.toUnsignedString(count), Wpix.MAX_BLOCKS));
    }
    return count;
  }

  private int readInt(String what) throws IOException {
    need(Integer.BYTES, what);
    return buffer.getInt();
  }

  private long readLong(String what) throws IOException {
    need(Long.BYTES, what);
    return buffer.getLong();
  }

  private void need(int bytes, String what) throws IOException {
    while (buffer.remaining() < bytes) {
      if (!refill()) {
        throw malformed(0, "cut short in " + what);
      }
    }
  }

  private boolean refill() throws IOException {
    buffer.compact();
    int read = channel.read(buffer);
    buffer.flip();
    readBytes += Math.max(0, read);
    return read > 0;
  }

  /** The problem stands {@code back} bytes before what is read next. */
  private WpixException malformed(int back, String what) {
    long offset = readBytes - buffer.remaining() - back;
    return new WpixException("%s: offset %d: %s".formatted(file, offset, what));
  }
}
