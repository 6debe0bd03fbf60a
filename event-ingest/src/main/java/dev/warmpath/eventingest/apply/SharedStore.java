package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entry in the index of a store that several engines read: which blocks it holds, under the
 * names that these engines have for the same hashes. Whoever fills the store holds the block on its
 * GPU just then, so its name is known, or will be in a moment.
 *
 * <p>Only for engines with one group of full attention: what else a hit needs of others no store
 * says.
 *
 * <p>Confined to the writer; what it tells may be asked by any thread.
 */
public final class SharedStore {

  /** So many hashes wait for an engine to name them; the oldest are given up. */
  static final int MOST_WAITING = 8_192;

  /** An engine that holds the block has said so by then. */
  static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * So many names are looked up between two ticks for what the store says itself, one for each
   * block and reader; the rest waits. This is a few milliseconds of the writer.
   */
  static final int MOST_LOOKUPS = 65_536;

  /** So many of them for what waits; one for each reader at least. */
  static final int WAITING_LOOKUPS = MOST_LOOKUPS / 4;

  private static final int GROUP = 0;

  /** What LMCache says of a chunk that begins in the middle of a prompt. */
  private static final long NO_PARENT = 0;

  /** So many blocks without names, and few with, are worth a line in the log. */
  static final int WARN_NAMELESS = 1_000;

  private static final Logger LOG = LoggerFactory.getLogger(SharedStore.class);

  private final KvIndex index;
  private final StoreRules rules;
  private final LongSupplier nanoClock;
  private final int slot;
  private final List<EventApplier> readers = new ArrayList<>();

  /** Since when each hash waits, oldest first. */
  private final Map<Long, Long> waiting = new LinkedHashMap<>();

  private final RemovedBlocks removed = new RemovedBlocks();
  private final StoredBlocks chunks = new StoredBlocks();

  /** How many of its readers' blocks each of its hashes covers. */
  private int chunkBlocks = 1;

  private boolean warned;
  private volatile boolean closed;
  private volatile long heardNanos;
  private final LongAdder told = new LongAdder();
  private volatile long toldWhenHeard;
  private long[] hashes = new long[64];
  private volatile @Nullable ChainSpace space;
  private final LongAdder named = new LongAdder();
  private final LongAdder nameless = new LongAdder();
  private int lookupsLeft = MOST_LOOKUPS;

  /** What waited when it was last begun to look all through; from {@link #looked} on is left. */
  private long[] round = {};

  private int looked;
  private long nextRoundNanos;

  /** Takes a slot in {@code index}. */
  public SharedStore(KvIndex index, StoreRules rules, LongSupplier nanoClock) {
    this.index = index;
    this.rules = rules;
    this.nanoClock = nanoClock;
    slot = index.addEngine(CopyCounting.PRESENCE);
    nextRoundNanos = nanoClock.getAsLong();
    heardNanos = nextRoundNanos;
  }

  public StoreRules rules() {
    return rules;
  }

  /** Its slot in the index. */
  public int slot() {
    return slot;
  }

  /** The space of its block keys, or null until one has a name. */
  public @Nullable ChainSpace space() {
    return space;
  }

  /** Blocks that it holds now by name; 0 when it was closed. */
  public long heldBlocks() {
    return closed ? 0 : index.stats(slot).heldBlocks();
  }

  /** Blocks that got a name so far. */
  public long named() {
    return named.sum();
  }

  /** Blocks that are not credited, as no engine named them. */
  public long nameless() {
    return nameless.sum();
  }

  /** Nanoseconds since its own events said anything, or since it is followed. */
  public long silentNanos() {
    return nanoClock.getAsLong() - heardNanos;
  }

  /** Blocks that its readers have said meanwhile that they stored there. */
  public long toldMeanwhile() {
    return told.sum() - toldWhenHeard;
  }

  /** Its own events have said something. */
  void heard() {
    heardNanos = nanoClock.getAsLong();
    toldWhenHeard = told.sum();
  }

  /** A reader says that it has stored so many blocks there, which it will say itself. */
  void told(int blocks) {
    told.add(blocks);
  }

  /** Frees its slot; nobody reads it any more. */
  public void close() {
    waiting.clear();
    closed = true;
    index.removeEngine(slot);
  }

  /** Another engine reads it. */
  void join(EventApplier reader) {
    readers.add(reader);
  }

  void leave(EventApplier reader) {
    readers.remove(reader);
  }

  /** It holds these blocks, as an engine says that has filled it. */
  void stored(EventApplier reader, long[] from, EventRow event) {
    int count = event.hashCount();
    if (nameChunks(from, event, List.of(reader), false)) {
      return;
    }
    int left = name(reader, copy(from, event.hashFrom(), count), count);
    if (left < count || !nameChunks(from, event, List.of(reader), true)) {
      countNameless(left);
    }
  }

  /**
   * It holds these blocks, as it says itself; those without a name get one later, or are given up.
   */
  void stored(long[] from, EventRow event) {
    if (!nameChunks(from, event, readers, false)) {
      BooleanSupplier byTokens = () -> nameChunks(from, event, readers, true);
      stored(from, event.hashFrom(), event.hashCount(), byTokens);
    }
  }

  /** The same of hashes alone. */
  void stored(long[] from, int first, int count) {
    stored(from, first, count, () -> false);
  }

  private void stored(long[] from, int first, int count, BooleanSupplier byTokens) {
    long[] stored = copy(from, first, count);
    int asked = Math.min(count, lookupsLeft / Math.max(1, readers.size()));
    int left = name(stored, asked);
    if (left == count && byTokens.getAsBoolean()) {
      return;
    }
    long now = nanoClock.getAsLong();
    await(stored, 0, left, now);
    await(stored, asked, count, now);
    giveUp(now);
  }

  /** A reader holds these blocks, some of which may wait for that. */
  void named(EventApplier reader, long[] from, int first, int count) {
    if (waiting.isEmpty()) {
      return;
    }
    int found = 0;
    long[] stored = copy(from, first, count);
    for (int i = 0; i < count; i++) {
      if (waiting.remove(stored[i]) != null) {
        stored[found++] = stored[i];
      }
    }
    int left = found == 0 ? 0 : name(reader, stored, found);
    await(stored, 0, left, nanoClock.getAsLong());
  }

  /**
   * Names blocks of a store that has hashes and block sizes of its own (LMCache's chunks) by their
   * tokens, in pieces as large as the readers' blocks. Tokens alone do not show an adapter, a salt
   * or an image, so what is as large as these blocks is named so only if no reader knows its hash.
   * What begins in the middle of a prompt, behind nobody knows what, gets no name.
   *
   * @param single whether they are as large as the readers' blocks
   * @return whether these are such blocks
   */
  private boolean nameChunks(
      long[] from, EventRow event, List<EventApplier> tellers, boolean single) {
    EventApplier teller = null;
    for (int i = 0; i < tellers.size() && teller == null; i++) {
      teller = knowsTokens(tellers.get(i)) ? tellers.get(i) : null;
    }
    ChainSpace known = teller == null ? null : teller.space();
    int pieces = known == null ? 0 : event.blocksAHash(known.blockSizeTokens());
    if (teller == null
        || known == null
        || pieces == 0
        || (pieces == 1) != single
        || !agrees(known, teller)) {
      return false;
    }
    if (!event.atRoot() && event.parent() == NO_PARENT) {
      countNameless(event.hashCount());
      return true;
    }
    chunkBlocks = Math.max(chunkBlocks, pieces);
    if (event.atRoot()) {
      chunks.atRoot(StorageTier.GPU, GROUP, known.rootKey());
    } else {
      chunks.behind(StorageTier.GPU, GROUP, event.parent());
    }
    chunks.ifAbsent();
    int blockTokens = known.blockSizeTokens();
    for (int i = 0; i < event.hashCount() * pieces; i++) {
      long hash = from[event.hashFrom() + i / pieces];
      chunks.add(pieceHash(hash, i % pieces, pieces), event.plainHash(i, blockTokens));
    }
    long orphans = index.stats(slot).orphanBlocks();
    index.stored(slot, chunks);
    chunks.trim();
    boolean waits = index.stats(slot).orphanBlocks() > orphans;
    named.add(waits ? 0 : event.hashCount());
    countNameless(waits ? event.hashCount() : 0);
    return true;
  }

  private static boolean knowsTokens(EventApplier reader) {
    ChainSpace known = reader.space();
    return known != null && known.lookaheadTokens() == 0 && reader.isOfOneGroup();
  }

  /** A name for each of the blocks that a store's hash covers; the last one has its own. */
  private static long pieceHash(long hash, int piece, int pieces) {
    if (piece == pieces - 1) {
      return hash;
    }
    long mixed = (hash + piece + 1) * 0x9e37_79b9_7f4a_7c15L;
    mixed = (mixed ^ (mixed >>> 32)) * 0xd6e8_feb8_6659_fd93L;
    return mixed ^ (mixed >>> 32);
  }

  private void countNameless(int blocks) {
    nameless.add(blocks);
    if (!warned && nameless.sum() >= WARN_NAMELESS && named.sum() < nameless.sum() / 10) {
      warned = true;
      LOG.warn(
          "store={} {} blocks were announced of which no reader tells the name, so they are not"
              + " credited; {} have one: do its readers publish events, with the same hash seed,"
              + " algorithm and block size as what fills it?",
          rules.name(),
          nameless.sum(),
          named.sum());
    }
  }

  private void await(long[] nameless, int from, int to, long now) {
    for (int i = from; i < to; i++) {
      waiting.remove(nameless[i]); // one that waits already becomes the youngest
      waiting.put(nameless[i], now);
    }
  }

  private void giveUp(long now) {
    Iterator<Long> since = waiting.values().iterator();
    int most = waiting.size() - MOST_WAITING;
    while (since.hasNext() && (now - since.next() > WAIT_NANOS || most > 0)) {
      since.remove();
      most--;
      countNameless(1);
    }
  }

  /** It holds these blocks no more. */
  void removed(long[] from, int first, int count) {
    removed.from(StorageTier.GPU, GROUP);
    for (int i = first; i < first + count; i++) {
      waiting.remove(from[i]);
      for (int piece = 0; piece < chunkBlocks; piece++) {
        removed.add(pieceHash(from[i], piece, chunkBlocks));
      }
    }
    index.removed(slot, removed);
    removed.trim();
  }

  /** A reader got so many tokens of a prompt from it. */
  void reused(BlockChain prompt, int tokens) {
    if (prompt.space().equals(space)) {
      int blocks = tokens / prompt.space().blockSizeTokens();
      index.confirmed(slot, StorageTier.GPU, GROUP, prompt, blocks);
    }
  }

  /** Lets time pass: looks whether what waits has a name now, some at each tick. */
  public void tick() {
    long now = nanoClock.getAsLong();
    lookupsLeft = MOST_LOOKUPS;
    if (looked == round.length) {
      if (waiting.isEmpty() || now - nextRoundNanos < 0) {
        return;
      }
      nextRoundNanos = now + LOOK_NANOS;
      round = waiting.keySet().stream().mapToLong(Long::longValue).toArray();
      looked = 0;
    }
    int most = Math.max(1, WAITING_LOOKUPS / Math.max(1, readers.size()));
    long[] asked = new long[Math.min(most, round.length - looked)];
    int count = 0;
    for (; looked < round.length && count < asked.length; looked++) {
      if (waiting.containsKey(round[looked])) {
        asked[count++] = round[looked];
      }
    }
    long[] left = Arrays.copyOf(asked, count);
    int still = name(left, count);
    for (int i = 0, kept = 0; i < count; i++) {
      if (kept < still && left[kept] == asked[i]) {
        kept++;
      } else {
        waiting.remove(asked[i]);
      }
    }
    giveUp(now);
  }

  /** It holds nothing. */
  void clear() {
    waiting.clear();
    index.cleared(slot);
  }

  /** Lets the readers name these; returns how many none can, which are the first ones then. */
  private int name(long[] stored, int count) {
    int left = count;
    for (int i = 0; i < readers.size() && left > 0; i++) {
      int asked = left;
      lookupsLeft -= asked;
      left = name(readers.get(i), stored, asked);
      if (left < asked) {
        Collections.swap(readers, 0, i); // what comes next is likely to be of the same one
      }
    }
    return left;
  }

  private int name(EventApplier reader, long[] stored, int count) {
    ChainSpace known = reader.space();
    if (known == null || !reader.isOfOneGroup() || !agrees(known, reader)) {
      return count;
    }
    int left = index.joined(slot, reader.slot(), StorageTier.GPU, GROUP, stored, count);
    named.add(count - left);
    return left;
  }

  /** Whether the reader's blocks are the store's; the first reader says what those are. */
  private boolean agrees(ChainSpace known, EventApplier reader) {
    if (Objects.equals(space, known)) {
      return true;
    }
    if (index.stats(slot).heldBlocks() > 0) {
      return false;
    }
    CacheGroup group =
        new CacheGroup(GROUP, CacheGroup.Kind.FULL_ATTENTION, known.blockSizeTokens(), 0);
    CacheLayout read = reader.cacheLayout();
    index.layout(
        slot, new CacheLayout(List.of(group), read.withheldTokens(), read.droppedBlocks()));
    space = known;
    return true;
  }

  private long[] copy(long[] from, int first, int count) {
    if (hashes.length < count) {
      hashes = new long[Math.max(count, 2 * hashes.length)];
    }
    System.arraycopy(from, first, hashes, 0, count);
    return hashes;
  }
}
