package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.ImageWaits;
import dev.warmpath.eventingest.SentImages;
import dev.warmpath.eventingest.SlowTierReuse;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.BlockLayout.News;
import dev.warmpath.eventingest.hashing.KnownScheme;
import dev.warmpath.eventingest.hashing.PromptHasher.HashedPrompt;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns the decoded events of one engine into writes to the index.
 *
 * <p>A block is named only when its store shows all that its name covers: every token, every extra
 * key, the lookahead. All other blocks are held without a name. What does not belong to the replica
 * or cannot be placed is counted and left out.
 *
 * <p>Confined to the writer; {@link #space}, {@link #hashScheme} and {@link #wanted} may be read by
 * any thread.
 */
public final class EventApplier {

  /** What a batch did beside its stores and removals. */
  public enum Effect {
    /** Nothing. */
    NONE,
    /** The engine said that it holds nothing, so from here on everything is known. */
    EMPTIED,
    /** The block size changed: all was forgotten, so what was held before is not known. */
    FORGOTTEN,
    /** More was announced than the engine can hold: something in what is held is not true. */
    OVERFULL
  }

  /** The {@link #hashScheme} of an engine before it was found out. */
  public static final String UNKNOWN_SCHEME = HashCalibration.UNKNOWN;

  private static final Logger LOG = LoggerFactory.getLogger(EventApplier.class);

  /** Bound on computed names of an engine, in addition to the blocks that it holds. */
  private static final int MOST_COMPUTED = 65_536;

  private final KvIndex index;
  private final EngineSource source;
  private final SglangNamespaces namespaces;
  private final StreamCounters counters;
  private final int slot;
  private final BlockLayout layout;
  private final Capacity capacity;

  /** The store that it reads, or whose events these are. */
  private @Nullable SharedStore store;

  private final OffloadChunks chunks = new OffloadChunks();
  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();
  private final HashCalibration calibration;
  private final ImageCalibration images = new ImageCalibration();
  private final ImageLearning imageLearning;
  private long storedBlocks;
  private long removedBlocks;

  /** Whether something is suspended. */
  private boolean anySuspended;

  /**
   * Whether names that were computed may be among it. Then answers confirm nothing until nothing is
   * suspended any more: the engine itself has said nothing of those blocks. Had the router read a
   * prompt wrongly, an answer would seem to confirm blocks that never were, and no removal would
   * ever come. A store does confirm them, since it names its parent by a hash that no other tokens
   * have.
   */
  private boolean anyComputed;

  private boolean refused;

  /** When the batch that is applied was heard. */
  private long arrivedNanos = StreamMessage.UNTIMED;

  private volatile @Nullable KnownScheme wanted;

  /** Takes a slot in {@code index} for the engine. */
  public EventApplier(KvIndex index, EngineSource source, StreamCounters counters) {
    this(index, source, counters, (SharedStore) null);
  }

  /**
   * The same for an engine that reads a store with others, or for the events of that store, whose
   * slot it has then.
   */
  public EventApplier(
      KvIndex index, EngineSource source, StreamCounters counters, @Nullable SharedStore store) {
    this(
        index,
        source,
        counters,
        store,
        store != null && source.isStore()
            ? store.slot()
            : index.addEngine(source.rules().removals()));
  }

  /** Goes on with a slot that {@code index} has kept for the engine. */
  public EventApplier(
      KvIndex index, EngineSource source, StreamCounters counters, int slot, LearnedCache learned) {
    this(index, source, counters, null, slot, learned);
  }

  /** The same for an engine that reads a store with others. */
  public EventApplier(
      KvIndex index,
      EngineSource source,
      StreamCounters counters,
      @Nullable SharedStore store,
      int slot,
      LearnedCache learned) {
    this(index, source, counters, store, slot);
    layout.restore(learned);
    chunks.restore(learned.chunkBlocks());
    images.restore(learned.imageForm());
    anySuspended = suspendedBlocks() > 0;
    anyComputed = anySuspended && learned.anyComputed();
    capacity.restored();
  }

  private EventApplier(
      KvIndex index,
      EngineSource source,
      StreamCounters counters,
      @Nullable SharedStore store,
      int slot) {
    this.index = index;
    this.source = source;
    this.counters = counters;
    this.slot = slot;
    imageLearning = new ImageLearning(counters, source.dialect() == EngineDialect.SGLANG);
    namespaces = source.rules().sglang().namespaces();
    calibration = new HashCalibration(source.hashSeed());
    layout = new BlockLayout(source);
    capacity = new Capacity(source.rules().maxBlocks());
    this.store = store;
    if (store != null && !source.isStore()) {
      store.join(this);
    }
  }

  /** The engine reads another store from now on, or none. */
  public void reads(@Nullable SharedStore other) {
    SharedStore before = store;
    if (before != other) {
      if (before != null) {
        before.leave(this);
      }
      if (other != null) {
        other.join(this);
      }
      store = other;
    }
  }

  /** The store whose events these are, or null. */
  private @Nullable SharedStore own() {
    return source.isStore() ? store : null;
  }

  /** What was learned beside what the index holds. */
  public LearnedCache learned() {
    return new LearnedCache(
        groups().learned(),
        layout.mainGroup(),
        layout.space(),
        anyComputed,
        chunks.learned(),
        images.known());
  }

  /** Where the events come from. */
  public EngineSource source() {
    return source;
  }

  /** The engine's slot in the index. */
  public int slot() {
    return slot;
  }

  /** The space of the engine's block keys, or null until a block could be named. */
  public @Nullable ChainSpace space() {
    SharedStore own = own();
    return own == null ? layout.space() : own.space();
  }

  /** Whether all that a hit needs are the blocks of one group of full attention. */
  boolean isOfOneGroup() {
    return layout.isMainFull() && layout.layout().groups().size() == 1;
  }

  /** How it turns held blocks into hits. */
  CacheLayout cacheLayout() {
    return layout.layout();
  }

  /** How the engine makes its hashes, as far as that was found out. */
  public String hashScheme() {
    return calibration.scheme();
  }

  /** How the engine names images; null if that was not found out. May be asked by any thread. */
  public @Nullable ImageForm imageForm() {
    return images.known();
  }

  /** Images are sent to the engine that may have these names. May be called by any thread. */
  public void sentImages(Map<String, ImageForm> names) {
    images.addCandidates(names);
  }

  /** A chat with images is sent to the engine. May be called by any thread. */
  public void sentImages(SentImages chat, long nowNanos) {
    imageLearning.sent(chat, nowNanos);
  }

  /** A chat is sent to the engine that may have other images. May be called by any thread. */
  public void sentUnread(Object request, long nowNanos) {
    imageLearning.sentUnread(request, nowNanos);
  }

  /**
   * A chat with images has ended. May be called by any thread.
   *
   * @param foundAll whether the engine found all of them in its cache
   */
  public void endedImages(Object request, boolean foundAll, long nowNanos) {
    imageLearning.ended(request, foundAll, nowNanos);
  }

  /** What waits for images of chats to be stored. May be asked by any thread. */
  public ImageWaits imageWaits() {
    return imageLearning.waiting(images.waiting());
  }

  /** Applies the events of one batch that was not heard live, in order. */
  public Effect apply(EventColumns batch) {
    return apply(batch, StreamMessage.UNTIMED);
  }

  /**
   * Applies the events of one batch, in order.
   *
   * @param arrived {@link StreamMessage#arrivedNanos}
   */
  public Effect apply(EventColumns batch, long arrived) {
    arrivedNanos = arrived;
    Effect effect = learn(batch);
    SharedStore own = own();
    if (own != null && batch.events() > 0) {
      own.heard();
    }
    storedBlocks = 0;
    removedBlocks = 0;
    refused = false;
    for (int i = 0; i < batch.events(); i++) {
      EventRow event = batch.row(i);
      switch (event.kind()) {
        case STORED -> stored(batch, event);
        case REMOVED -> i = remove(batch, i);
        case CLEARED -> {
          clear();
          effect = Effect.EMPTIED;
        }
      }
    }
    counters.add(StreamCounter.EVENTS, batch.events());
    counters.add(StreamCounter.BLOCKS_STORED, storedBlocks);
    counters.add(StreamCounter.BLOCKS_REMOVED, removedBlocks);
    removed.trim();
    stored.trim();
    wanted = lacksNames() ? calibration.known() : null;
    return judged(effect);
  }

  /** An engine that announced too much again and again is not believed when it says anything. */
  private Effect judged(Effect effect) {
    if (capacity.isDistrusted()) {
      return effect == Effect.EMPTIED ? Effect.OVERFULL : effect;
    }
    if (refused) {
      capacity.breached();
      if (capacity.isIgnored()) {
        LOG.warn(
            "engine={} announces more blocks than its metrics say that it has, again and again:"
                + " num_gpu_blocks is ignored until its next start, set max-blocks if it is right",
            source.id());
        return effect;
      }
      return Effect.OVERFULL;
    }
    return effect;
  }

  /** What the engine makes of a hit in slower memory. May be asked by any thread. */
  public SlowTierReuse slowTier() {
    return source.rules().slowTier(layout.space(), chunks.blocks());
  }

  /** How many blocks the engine can hold, with some slack; 0 if nobody knows. */
  public long mostBlocks() {
    return capacity.most(groups().count());
  }

  /** The engine says that its GPU has room for so many blocks, 0 if it does not say. */
  public void gpuBlocks(long blocks) {
    capacity.gpuBlocks(blocks);
  }

  /** Forgets what the engine holds, not how it keeps it. */
  public void clear() {
    SharedStore own = own();
    if (own == null) {
      index.cleared(slot);
    } else {
      own.clear();
    }
    suspended(0);
    chunks.forget();
    wanted = null;
    counters.add(StreamCounter.CLEARS);
  }

  /**
   * Removals may have been lost: what has a name is suspended, the rest forgotten. What the engine
   * stores from here on shows what of it is still there. All is forgotten if more is suspended than
   * the engine can hold. Returns how many blocks are suspended that were held.
   */
  public long suspend() {
    long suspended = index.suspended(slot);
    counters.add(StreamCounter.SUSPENDED_BLOCKS, suspended);
    suspended(suspendedBlocks());
    long most = mostBlocks();
    if (most > 0 && (suspendedBlocks() > most || capacity.isDistrusted())) {
      clear();
      return 0;
    }
    return suspended;
  }

  /** Whether something is suspended. */
  public boolean hasSuspended() {
    return anySuspended;
  }

  /** The engine was seen to reuse so many tokens of a prompt, since the last suspension. */
  public void reused(BlockChain prompt, int cachedTokens) {
    SharedStore own = own();
    if (own != null) {
      own.reused(prompt, cachedTokens);
      suspended(suspendedBlocks());
      return;
    }
    ChainSpace current = layout.space();
    if (anySuspended && !anyComputed && prompt.space().equals(current) && layout.isMainFull()) {
      int blocks = cachedTokens / prompt.space().blockSizeTokens();
      long confirmed = index.confirmed(slot, StorageTier.GPU, layout.mainGroup(), prompt, blocks);
      counters.add(StreamCounter.CONFIRMED_BLOCKS, confirmed);
    }
  }

  /**
   * How the engine makes its hashes, if blocks wait for parents of which nobody tells and prompts
   * should be hashed therefore; else null. May be asked by any thread.
   */
  public @Nullable KnownScheme wanted() {
    return wanted;
  }

  /** The engine was given a prompt, and these are the names of its blocks. */
  public void computed(HashedPrompt prompt) {
    KnownScheme scheme = wanted;
    if (scheme != null && prompt.isBy(scheme) && prompt.chain().space().equals(layout.space())) {
      long capacityBlocks = mostBlocks();
      long most = capacityBlocks > 0 ? Math.min(capacityBlocks, MOST_COMPUTED) : MOST_COMPUTED;
      StoredBlocks names = prompt.names(stored, layout.mainGroup());
      if (suspendedBlocks() + names.count() > most) {
        counters.add(StreamCounter.COMPUTATIONS_SKIPPED);
        return;
      }
      long more = index.computed(slot, names);
      counters.add(StreamCounter.COMPUTED_NAMES, more);
      anySuspended |= more > 0;
      anyComputed |= more > 0;
    }
  }

  private long suspendedBlocks() {
    return stats().suspendedBlocks();
  }

  /** So many blocks are suspended now. */
  private void suspended(long blocks) {
    anySuspended = blocks > 0;
    anyComputed &= anySuspended;
  }

  private GroupTable groups() {
    return layout.groups();
  }

  private boolean lacksNames() {
    return calibration.known() != null
        && layout.isMainFull()
        && !isDistrusted()
        && stats().orphanBlocks() > 0;
  }

  /** What the index keeps for the engine. */
  public EngineStats stats() {
    return index.stats(slot);
  }

  /** Forgets what the engine holds and how it keeps it: the next lifetime may differ. */
  public void reset() {
    clear();
    layout.forget();
    capacity.reset();
    calibration.reset();
    images.reset();
    imageLearning.reset();
    if (!source.isStore()) {
      index.layout(slot, layout.layout());
    }
  }

  /** Frees the slot. */
  public void remove() {
    if (source.isStore()) {
      clear();
      return;
    }
    if (store != null) {
      store.leave(this);
    }
    index.removeEngine(slot);
  }

  private Effect learn(EventColumns batch) {
    if (source.isStore()) {
      return Effect.NONE; // its readers say what its blocks are
    }
    News news = layout.learn(batch);
    if (news == News.VOID) {
      counters.add(StreamCounter.BLOCK_SIZE_CHANGES);
      clear();
    }
    if (news != News.NONE) {
      index.layout(slot, layout.layout());
    }
    return news == News.VOID ? Effect.FORGOTTEN : Effect.NONE;
  }

  private void stored(EventColumns batch, EventRow store) {
    int count = store.hashCount();
    storedBlocks += count;
    StorageTier tier = store.tier();
    if (count == 0) {
      return;
    }
    SharedStore shared = this.store;
    if (shared != null && isShared(shared, store.place())) {
      storedThere(shared, batch, store);
    } else if (tier == null) {
      counters.add(notCredited(store.place()), count);
    } else if (!groups().acceptWindow(store.windowTokens())) {
      counters.add(StreamCounter.WINDOW_BLOCKS, count);
    } else if (!takes(count, tier)) {
      counters.add(StreamCounter.REFUSED_BLOCKS, count);
      refused = true;
    } else {
      if (tier != StorageTier.GPU && store.hasTokens() && source.dialect() == EngineDialect.VLLM) {
        chunks.stored(count);
      }
      name(store, tier, batch.hashes());
      store(stored.addAll(batch.hashes(), store.hashFrom(), count));
      ChainSpace space = layout.space();
      if (space != null) {
        imageLearning.stored(index, slot, space, arrivedNanos);
      }
      if (shared != null && shared.rules().publishes()) {
        shared.named(this, batch.hashes(), store.hashFrom(), count);
      }
    }
  }

  private boolean isShared(SharedStore shared, BlockPlace place) {
    return source.isStore() || shared.rules().isMeant(place);
  }

  private void storedThere(SharedStore shared, EventColumns batch, EventRow event) {
    StoreRules rules = shared.rules();
    if (!source.isStore() && rules.publishes()) {
      counters.add(StreamCounter.REMOTE_BLOCKS, event.hashCount());
      shared.told(event.hashCount());
    } else if (!source.isStore()) {
      shared.stored(this, batch.hashes(), event);
    } else if (rules.isOurs(event.owner()) && rules.showsBlock(event.owner())) {
      shared.stored(batch.hashes(), event);
      suspended(anySuspended ? suspendedBlocks() : 0);
    }
  }

  private void removedThere(SharedStore shared, EventColumns batch, EventRow event) {
    boolean speaks =
        source.isStore() ? shared.rules().isOurs(event.owner()) : !shared.rules().publishes();
    if (speaks) {
      shared.removed(batch.hashes(), event.hashFrom(), event.hashCount());
    }
  }

  /** Stores blocks, which may show that suspended ones are there. */
  private void store(StoredBlocks blocks) {
    long before = anySuspended ? suspendedBlocks() : 0;
    index.stored(slot, blocks);
    if (anySuspended) {
      long after = suspendedBlocks();
      counters.add(StreamCounter.CONFIRMED_BLOCKS, before - after);
      suspended(after);
    }
  }

  /**
   * Applies a removal and those right behind it from the same place: vLLM announces each block by
   * itself. Their hashes lie side by side.
   *
   * @return the last event of these
   */
  private int remove(EventColumns batch, int first) {
    EventRow removal = batch.row(first);
    int last = first;
    int count = removal.hashCount();
    SharedStore shared = store;
    if (shared != null && isShared(shared, removal.place())) {
      removedThere(shared, batch, removal);
      removedBlocks += count;
      return first;
    }
    while (last + 1 < batch.events() && goesOn(removal, batch.row(last + 1))) {
      count += batch.row(++last).hashCount();
    }
    removedBlocks += count;
    StorageTier tier = removal.tier();
    if (tier != null) {
      int group = removal.place().groupIdx();
      if (tier == StorageTier.GPU && !groups().describes(group)) {
        counters.add(StreamCounter.UNKNOWN_GROUP_REMOVALS, count);
      }
      removed.from(tier, group);
      index.removed(slot, removed.addAll(batch.hashes(), removal.hashFrom(), count));
    }
    return last;
  }

  private static boolean goesOn(EventRow removal, EventRow next) {
    return next.kind() == EventRow.Kind.REMOVED && next.place().equals(removal.place());
  }

  private static StreamCounter notCredited(BlockPlace place) {
    if (place.ownership() != null) {
      return StreamCounter.SECONDARY_BLOCKS;
    }
    return place.isRemote() ? StreamCounter.REMOTE_BLOCKS : StreamCounter.UNKNOWN_MEDIUM_BLOCKS;
  }

  private boolean takes(int count, StorageTier tier) {
    if (anySuspended) {
      capacity.recount(); // what is confirmed comes back uncounted
    }
    return capacity.takes(count, tier, groups().count(), () -> stats().heldBlocks());
  }

  private boolean isDistrusted() {
    return capacity.isDistrusted();
  }

  /** Begins the blocks of a store and writes their local hashes, if they can be named. */
  private void name(EventRow store, StorageTier tier, long[] hashes) {
    ChainSpace current = layout.space();
    int group = store.place().groupIdx();
    if (current == null || !isNameable(store, tier, current)) {
      stored.unnamed(tier, group);
      return;
    }
    store.nameBlocks();
    if (source.dialect() == EngineDialect.VLLM && tier == StorageTier.GPU) {
      images.observeStore(store);
    }
    if (source.dialect() != EngineDialect.TRTLLM && tier == StorageTier.GPU) {
      imageLearning.observe(hashes, store, index, slot, current, arrivedNanos);
    }
    if (!store.atRoot()) {
      stored.behind(tier, group, store.parent());
      return;
    }
    stored.atRoot(tier, group, current.rootKey());
    if (source.dialect() == EngineDialect.VLLM && tier == StorageTier.GPU) {
      calibration.observeStore(store, hashes[store.hashFrom()]);
    }
    if (source.dialect() == EngineDialect.SGLANG) {
      int first = store.hashFrom() + store.hashCount();
      long plain = hashes[first];
      hashes[first] = namespaces.rootLocalHash(store);
      counters.add(StreamCounter.KEYED_STORES, hashes[first] == plain ? 0 : 1);
    }
  }

  /**
   * Whether a store shows all that the names of its blocks cover in {@code space}, which the main
   * group has; if not, counts why.
   */
  private boolean isNameable(EventRow store, StorageTier tier, ChainSpace space) {
    int count = store.hashCount();
    Naming naming = store.naming();
    if (naming != Naming.DENSE) {
      counters.add(unnamed(naming), count);
      return false;
    }
    boolean ofMainGroup = store.place().groupIdx() == layout.mainGroup();
    if (store.blockSizeTokens() != space.blockSizeTokens()) {
      counters.add(StreamCounter.PARTIAL_BLOCKS, ofMainGroup ? count : 0);
      return false;
    }
    if (!ofMainGroup) {
      return false;
    }
    if (store.lookaheadTokens() != space.lookaheadTokens() || lacksKeys(store, tier)) {
      counters.add(StreamCounter.UNNAMEABLE_BLOCKS, count);
      return false;
    }
    return true;
  }

  /** vLLM's connectors leave extra keys out, whatever the request had. */
  private boolean lacksKeys(EventRow store, StorageTier tier) {
    return source.dialect() == EngineDialect.VLLM
        && tier != StorageTier.GPU
        && store.keys().perBlock().isEmpty();
  }

  private static StreamCounter unnamed(Naming naming) {
    return switch (naming) {
      case TOKENLESS -> StreamCounter.TOKENLESS_BLOCKS;
      case SPARSE -> StreamCounter.SPARSE_BLOCKS;
      default -> StreamCounter.UNNAMEABLE_BLOCKS;
    };
  }

  /**
   * How many blocks an engine's offload tiers give back together: a connector that describes its
   * chunks block by block loads none of them alone.
   *
   * <p>Single writer, many readers.
   */
  private static final class OffloadChunks {

    private volatile int blocks = 1;
    private boolean said;

    /** The engine stored so many described blocks together in an offload tier. */
    void stored(int count) {
      if (!said || blocks != count) {
        blocks = said ? 0 : count;
        said = true;
      }
    }

    /** What is held was stored in chunks of this size; see {@link LearnedCache#chunkBlocks}. */
    void restore(int chunkBlocks) {
      said = chunkBlocks != LearnedCache.NO_CHUNKS;
      blocks = said ? chunkBlocks : 1;
    }

    /** Nothing is held. */
    void forget() {
      blocks = 1;
      said = false;
    }

    /** The blocks of a chunk; 0 if chunks differ, so that nobody can say where they end. */
    int blocks() {
      return blocks;
    }

    /** The same for another process. */
    int learned() {
      return said ? blocks : LearnedCache.NO_CHUNKS;
    }
  }
}
