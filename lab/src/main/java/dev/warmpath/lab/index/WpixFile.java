package dev.warmpath.lab.index;

import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.lab.index.Corpus.CorpusSource;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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

  /**
   * Works out what an exact index answers to a corpus, with plain sets.
   *
   * <p>For workers with one group of full attention. Refuses a corpus on which counting copies and
   * counting presence could differ, or whose stores do not say what they store: a stored block that
   * is held already, a removed one that is not, a parent that is not held.
   *
   * <p>Confined to the thread that feeds it.
   */
  private static final class CorpusModel implements CorpusSink {

    private final CorpusSink next;
    private final BlockNumbers numbers = new BlockNumbers();
    private final HeldBlocks held = new HeldBlocks();
    private final List<Map<Long, Integer>> numberOfHash = new ArrayList<>();
    private final List<int[]> chains = new ArrayList<>();
    private Sums interleaved = Sums.NONE;
    private long records;

    /** Passes all records on to {@code next}. */
    CorpusModel(CorpusSink next) {
      this.next = next;
    }

    @Override
    public void stored(int worker, StoredBlocks blocks) {
      Map<Long, Integer> names = names(worker);
      int parent = blocks.atRoot() ? BlockNumbers.ROOT : number(worker, blocks.parent(), "parent");
      for (int i = 0; i < blocks.count(); i++) {
        int number = numbers.number(parent, blocks.localHash(i));
        if (!held.add(worker, number) || names.put(blocks.engineHash(i), number) != null) {
          throw refusal(worker, "stores a block that it holds", blocks.engineHash(i));
        }
        parent = number;
      }
      records++;
      next.stored(worker, blocks);
    }

    @Override
    public void removed(int worker, RemovedBlocks blocks) {
      for (int i = 0; i < blocks.count(); i++) {
        long engineHash = blocks.engineHash(i);
        held.remove(worker, number(worker, engineHash, "removed block"));
        names(worker).remove(engineHash);
      }
      records++;
      next.removed(worker, blocks);
    }

    @Override
    public void cleared(int worker) {
      names(worker).values().forEach(number -> held.remove(worker, number));
      names(worker).clear();
      records++;
      next.cleared(worker);
    }

    @Override
    public void query(int worker, long[] localHashes, int count) {
      int[] chain = new int[count];
      int parent = BlockNumbers.ROOT;
      for (int i = 0; i < count; i++) {
        parent = numbers.number(parent, localHashes[i]);
        chain[i] = parent;
      }
      chains.add(chain);
      interleaved = interleaved.plus(Sums.of(held.depths(chain)));
      records++;
      next.query(worker, localHashes, count);
    }

    /** The answers to what was fed so far. */
    ExactAnswers answers() {
      Sums atEnd = Sums.NONE;
      for (int[] chain : chains) {
        atEnd = atEnd.plus(Sums.of(held.depths(chain)));
      }
      return new ExactAnswers(interleaved, atEnd, held.memberships());
    }

    private Map<Long, Integer> names(int worker) {
      while (numberOfHash.size() <= worker) {
        numberOfHash.add(new HashMap<>());
      }
      return numberOfHash.get(worker);
    }

    private int number(int worker, long engineHash, String role) {
      Integer number = names(worker).get(engineHash);
      if (number == null) {
        throw refusal(worker, "does not hold the " + role, engineHash);
      }
      return number;
    }

    private IllegalArgumentException refusal(int worker, String what, long engineHash) {
      return new IllegalArgumentException(
          "record %d: worker %d %s %016x".formatted(records, worker, what, engineHash));
    }

    /**
     * Which worker holds which block, as one set of workers for each block number.
     *
     * <p>The bookkeeping by which corpora know their exact answers; it knows nothing of hashes,
     * chains or indexes.
     *
     * <p>Single writer.
     */
    static final class HeldBlocks {

      private static final long[] NOBODY = {};

      private long[][] holders = new long[1024][];
      private int workers;
      private long memberships;

      /** The worker holds the block now; returns whether it did not before. */
      boolean add(int worker, int block) {
        workers = Math.max(workers, worker + 1);
        if (block >= holders.length) {
          holders = Arrays.copyOf(holders, Math.max(block + 1, 2 * holders.length));
        }
        long[] set = holders(block);
        if (set.length <= worker / Long.SIZE) {
          set = Arrays.copyOf(set, worker / Long.SIZE + 1);
          holders[block] = set;
        }
        long before = set[worker / Long.SIZE];
        set[worker / Long.SIZE] |= 1L << worker;
        boolean added = set[worker / Long.SIZE] != before;
        memberships += added ? 1 : 0;
        return added;
      }

      /** The worker does not hold the block any more; returns whether it did. */
      boolean remove(int worker, int block) {
        if (!holds(worker, block)) {
          return false;
        }
        long[] set = holders[block];
        set[worker / Long.SIZE] &= ~(1L << worker);
        if (Arrays.stream(set).allMatch(word -> word == 0)) {
          holders[block] = NOBODY;
        }
        memberships--;
        return true;
      }

      boolean holds(int worker, int block) {
        long[] set = holders(block);
        return worker / Long.SIZE < set.length && (set[worker / Long.SIZE] >>> worker & 1) != 0;
      }

      /** (worker, block) pairs. */
      long memberships() {
        return memberships;
      }

      /** For each worker, how many blocks of {@code chain} it holds from the first one on. */
      int[] depths(int[] chain) {
        int[] depths = new int[workers];
        long[] alive = new long[(workers + Long.SIZE - 1) / Long.SIZE];
        Arrays.fill(alive, -1);
        boolean more = true;
        for (int depth = 0; more; depth++) {
          more =
              narrow(alive, depth == chain.length ? NOBODY : holders(chain[depth]), depth, depths);
        }
        return depths;
      }

      /** Takes out of {@code alive} who is not in {@code set}; returns whether somebody is left. */
      private static boolean narrow(long[] alive, long[] set, int depth, int[] depths) {
        long left = 0;
        for (int word = 0; word < alive.length; word++) {
          long kept = word < set.length ? alive[word] & set[word] : 0;
          for (long out = alive[word] & ~kept; out != 0; out &= out - 1) {
            int worker = word * Long.SIZE + Long.numberOfTrailingZeros(out);
            if (worker < depths.length) {
              depths[worker] = depth;
            }
          }
          alive[word] = kept;
          left |= kept;
        }
        return left != 0;
      }

      private long[] holders(int block) {
        long[] set = block < holders.length ? holders[block] : null;
        return set == null ? NOBODY : set;
      }
    }

    /**
     * Numbers blocks by (number of the block before, local hash), so that equal numbers mean equal
     * prefixes.
     *
     * <p>Numbers count from 0 in order of first appearance.
     *
     * <p>Single writer.
     */
    static final class BlockNumbers {

      /** Stands before block 0. */
      static final int ROOT = -1;

      private int[] table = new int[1 << 16];
      private int[] parents = new int[1 << 15];
      private long[] locals = new long[1 << 15];
      private int size;

      /** The number of the block with {@code local} behind {@code parent}; a new one if need be. */
      int number(int parent, long local) {
        int at = slot(parent, local);
        if (table[at] != 0) {
          return table[at] - 1;
        }
        if (size == parents.length) {
          grow();
          at = slot(parent, local);
        }
        parents[size] = parent;
        locals[size] = local;
        table[at] = ++size;
        return size - 1;
      }

      private int slot(int parent, long local) {
        int mask = table.length - 1;
        int at = (int) (mix(parent, local) >>> 32) & mask;
        while (table[at] != 0) {
          int number = table[at] - 1;
          if (locals[number] == local && parents[number] == parent) {
            break;
          }
          at = at + 1 & mask;
        }
        return at;
      }

      private void grow() {
        parents = Arrays.copyOf(parents, 2 * size);
        locals = Arrays.copyOf(locals, 2 * size);
        table = new int[2 * table.length];
        for (int number = 0; number < size; number++) {
          table[slot(parents[number], locals[number])] = number + 1;
        }
      }

      private static long mix(int parent, long local) {
        long x = (local ^ (parent + 1L) * 0x9E3779B97F4A7C15L) * 0xD6E8FEB86659FD93L;
        return x ^ x << 32;
      }
    }
  }
}
