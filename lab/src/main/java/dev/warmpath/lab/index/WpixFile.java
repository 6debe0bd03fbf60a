package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
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

/** A corpus in a WPIX file; its exact answers are worked out from what it says. */
record WpixFile(Path file) implements CorpusSource {

  @Override
  public String name() {
    return String.valueOf(file.getFileName());
  }

  @Override
  public CorpusShape shape() {
    return CorpusShape.SIMPLE;
  }

  @Override
  public ExactAnswers feed(CorpusSink sink) throws IOException {
    CorpusModel model = new CorpusModel(sink);
    try (WpixReader reader = WpixReader.open(file, shape().space().rootKey())) {
      while (reader.next(model)) {
        // the model counts
      }
    } catch (IllegalArgumentException e) {
      throw new WpixException(file + ": " + e.getMessage());
    }
    return model.answers();
  }

  /**
   * Reads a WPIX file record by record.
   *
   * <p>Memory is bounded by the largest record allowed. Malformed input ends in a {@link
   * WpixException}.
   *
   * <p>Confined to one thread.
   */
  private static final class WpixReader implements Closeable {

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
        case Format.STORE -> store(worker, sink);
        case Format.REMOVE -> remove(worker, sink);
        case Format.QUERY -> query(worker, sink);
        case Format.CLEAR -> sink.cleared(worker);
        default -> throw malformed(5, "a record of kind " + kind);
      }
      return true;
    }

    @Override
    public void close() throws IOException {
      channel.close();
    }

    private void header() throws IOException {
      if (readInt("the header") != Format.MAGIC) {
        throw malformed(4, "no WPIX file: it does not begin with 'WPIX'");
      }
      int version = readInt("the header");
      if (version != Format.VERSION) {
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
      if (worker < 0 || worker >= Format.MAX_WORKERS) {
        throw malformed(
            4,
            "worker %s, more than %d"
                .formatted(Integer.toUnsignedString(worker), Format.MAX_WORKERS - 1));
      }
      return worker;
    }

    private int count(String record) throws IOException {
      int count = readInt("a record's length");
      if (count < 0 || count > Format.MAX_BLOCKS) {
        throw malformed(
            4,
            "a %s record of %s blocks, more than %d"
                .formatted(record, Integer.toUnsignedString(count), Format.MAX_BLOCKS));
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

  /**
   * Writes the records that it is fed into a WPIX file, which it replaces.
   *
   * <p>A corpus whose workers have several groups cannot be expressed and is refused. Problems with
   * the file are thrown as {@link UncheckedIOException}.
   *
   * <p>Confined to one thread.
   */
  static final class WpixWriter implements CorpusSink, Closeable {

    private final SeekableByteChannel channel;
    private final ByteBuffer buffer =
        ByteBuffer.allocateDirect(1 << 20).order(ByteOrder.LITTLE_ENDIAN);

    private WpixWriter(SeekableByteChannel channel) {
      this.channel = channel;
      buffer.putInt(Format.MAGIC).putInt(Format.VERSION);
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
      begin(Format.STORE, worker)
          .putLong(blocks.atRoot() ? 0 : blocks.parent())
          .putInt(blocks.count());
      for (int i = 0; i < blocks.count(); i++) {
        room(2 * Long.BYTES).putLong(blocks.engineHash(i)).putLong(blocks.localHash(i));
      }
    }

    @Override
    public void removed(int worker, RemovedBlocks blocks) {
      refuseGroup(blocks.group());
      begin(Format.REMOVE, worker).putInt(blocks.count());
      for (int i = 0; i < blocks.count(); i++) {
        room(Long.BYTES).putLong(blocks.engineHash(i));
      }
    }

    @Override
    public void cleared(int worker) {
      begin(Format.CLEAR, worker);
    }

    @Override
    public void query(int worker, long[] localHashes, int count) {
      begin(Format.QUERY, worker).putInt(count);
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

  /**
   * A file is not what {@code docs/wpix.md} says; the message names the file, the offset and what
   * is wrong.
   *
   * <p>Immutable.
   */
  static final class WpixException extends IOException {

    private static final long serialVersionUID = 1L;

    WpixException(String message) {
      super(message);
    }
  }

  /**
   * The constants of the format: {@code 'W' 'P' 'I' 'X'}, version, records.
   *
   * <pre>
   *  store   0  worker:u32  parent:u64  n:u32  n × (engine hash:u64  local hash:u64)
   *  remove  1  worker:u32  n:u32  n × engine hash:u64
   *  query   2  worker:u32  n:u32  n × local hash:u64
   *  clear   3  worker:u32
   * </pre>
   *
   * All numbers are little endian; a parent of 0 means that the blocks begin a prompt.
   */
  static final class Format {

    /** {@code WPIX} read as a little-endian int. */
    static final int MAGIC = 'W' | 'P' << 8 | 'I' << 16 | 'X' << 24;

    static final int VERSION = 1;
    static final int STORE = 0;
    static final int REMOVE = 1;
    static final int QUERY = 2;
    static final int CLEAR = 3;

    /** The most blocks that one record may have. */
    static final int MAX_BLOCKS = 1 << 20;

    /** The most workers that a file may have. */
    static final int MAX_WORKERS = 1 << 16;

    private Format() {}
  }
}
