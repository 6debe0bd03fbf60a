package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.apply.GroupTable.Lesson;
import dev.warmpath.eventingest.count.StreamCounter;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.eventingest.wire.KvEvent;
import dev.warmpath.eventingest.wire.KvEvent.AllBlocksCleared;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.KvEventBatch;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Turns the decoded events of one engine into writes to the index.
 *
 * <p>A block is named only when its store shows all that its name covers: every token, every extra
 * key, the lookahead. All other blocks are held without a name. What does not belong to the replica
 * or cannot be placed is counted and left out.
 *
 * <p>Confined to the writer; {@link #space} may be read by any thread.
 */
public final class EventApplier {

  /** What a batch did beside its stores and removals. */
  public enum Effect {
    /** Nothing. */
    NONE,
    /** The engine said that it holds nothing, so from here on everything is known. */
    EMPTIED,
    /** The block size changed: all was forgotten, so what was held before is not known. */
    FORGOTTEN
  }

  private final KvIndex index;
  private final EngineSource source;
  private final SglangNamespaces namespaces;
  private final StreamCounters counters;
  private final int slot;
  private final GroupTable groups = new GroupTable();
  private final StoredBlocks blocks = new StoredBlocks();
  private final RemovedBlocks removedBlocks = new RemovedBlocks();
  private volatile @Nullable ChainSpace space;
  private int mainGroup;
  private boolean hiddenTraffic;

  /** Takes a slot in {@code index} for the engine. */
  public EventApplier(
      KvIndex index, EngineSource source, SglangNamespaces namespaces, StreamCounters counters) {
    this.index = index;
    this.source = source;
    this.namespaces = namespaces;
    this.counters = counters;
    slot = index.addEngine(counting(source.dialect()));
  }

  /** The engine's slot in the index. */
  public int slot() {
    return slot;
  }

  /** The space of the engine's block keys, or null until a block could be named. */
  public @Nullable ChainSpace space() {
    return space;
  }

  /**
   * Whether requests are under way whose name space the engine's events do not show (SGLang's
   * {@code extra_key} in the default format, salts before vLLM 0.19). While they are, stores that
   * may be theirs are left out.
   */
  public void hiddenTraffic(boolean underWay) {
    hiddenTraffic = underWay;
  }

  /** Applies the events of one batch, in order. */
  public Effect apply(KvEventBatch batch) {
    Effect effect = learn(batch.events());
    for (KvEvent event : batch.events()) {
      if (event instanceof BlockStored store) {
        stored(store);
      } else if (event instanceof BlockRemoved removal) {
        removed(removal);
      } else if (event instanceof AllBlocksCleared) {
        clear();
        effect = Effect.EMPTIED;
      }
    }
    counters.add(StreamCounter.EVENTS, batch.events().size());
    return effect;
  }

  /** Forgets what the engine holds, not how it keeps it. */
  public void clear() {
    counters.add(StreamCounter.CLEARS);
    index.cleared(slot);
  }

  /** Forgets what the engine holds and how it keeps it: the next lifetime may differ. */
  public void reset() {
    clear();
    groups.forget();
    space = null;
    index.layout(slot, layout());
  }

  /** Frees the slot. */
  public void remove() {
    index.removeEngine(slot);
  }

  private static CopyCounting counting(EngineDialect dialect) {
    return dialect == EngineDialect.SGLANG ? CopyCounting.PRESENCE : CopyCounting.PER_COPY;
  }

  /** Learns the groups of the whole batch first, so that no hit is judged by some of them. */
  private Effect learn(List<KvEvent> events) {
    boolean news = false;
    boolean changed = false;
    for (KvEvent event : events) {
      if (event instanceof BlockStored store && describesGroup(store)) {
        Lesson lesson = groups.learn(store);
        changed |= lesson == Lesson.CHANGED;
        news |= lesson == Lesson.NEW;
      } else if (event instanceof BlockRemoved removal && onGpu(removal.place().tier())) {
        news |= groups.heardOf(removal.place().groupIdx());
      }
    }
    ChainSpace before = space;
    changed |= learnSpace(events, changed);
    if (changed) {
      counters.add(StreamCounter.BLOCK_SIZE_CHANGES);
      clear();
    }
    if (news || changed || !Objects.equals(before, space)) {
      index.layout(slot, layout());
    }
    return changed ? Effect.FORGOTTEN : Effect.NONE;
  }

  private static boolean describesGroup(BlockStored store) {
    return onGpu(store.place().tier())
        && (store.tokens().ids().length > 0 || store.blockHashes().length == 0);
  }

  private static boolean onGpu(@Nullable StorageTier tier) {
    return tier == StorageTier.GPU;
  }

  /** Sets the space from the main group's first dense store; whether an old one became void. */
  private boolean learnSpace(List<KvEvent> events, boolean resized) {
    CacheGroup main = groups.main();
    if (main == null) {
      return false;
    }
    ChainSpace old = space;
    ChainSpace said = saidSpace(events, main);
    boolean stale =
        old != null
            && (resized || mainGroup != main.index() || (said != null && !said.equals(old)));
    if (old == null || stale) {
      space = said;
      mainGroup = main.index();
    }
    return stale;
  }

  private @Nullable ChainSpace saidSpace(List<KvEvent> events, CacheGroup main) {
    for (KvEvent event : events) {
      if (event instanceof BlockStored store && describesSpace(store, main)) {
        return new ChainSpace(
            source.model(), main.blockSizeTokens(), store.tokens().lookaheadTokens());
      }
    }
    return null;
  }

  private static boolean describesSpace(BlockStored store, CacheGroup main) {
    return store.place().groupIdx() == main.index()
        && onGpu(store.place().tier())
        && store.tokens().blockSizeTokens() == main.blockSizeTokens()
        && store.blockHashes().length > 0
        && isDense(store.naming());
  }

  private static boolean isDense(Naming naming) {
    return switch (naming) {
      case DENSE, UNKNOWN_KEY, UNNAMED_ADAPTER -> true;
      default -> false;
    };
  }

  private CacheLayout layout() {
    ChainSpace current = space;
    int lookaheadTokens = current == null ? 0 : current.lookaheadTokens();
    int withheld =
        source.dialect() == EngineDialect.SGLANG
            ? 1 + lookaheadTokens
            : Math.max(1, lookaheadTokens);
    return new CacheLayout(groups.layout(), withheld, source.droppedBlocks());
  }

  private void stored(BlockStored store) {
    int count = store.blockHashes().length;
    counters.add(StreamCounter.BLOCKS_STORED, count);
    StorageTier tier = store.place().tier();
    if (count == 0) {
      return;
    }
    if (tier == null) {
      counters.add(StreamCounter.UNKNOWN_MEDIUM_BLOCKS, count);
    } else if (tier == StorageTier.REMOTE) {
      counters.add(StreamCounter.REMOTE_BLOCKS, count);
    } else if (hiddenTraffic && mayHideKeys(store)) {
      counters.add(StreamCounter.HIDDEN_BLOCKS, count);
    } else {
      index.stored(slot, blocks(store, tier));
    }
  }

  private boolean mayHideKeys(BlockStored store) {
    return source.dialect() == EngineDialect.SGLANG || store.keys().perBlock().isEmpty();
  }

  private StoredBlocks blocks(BlockStored store, StorageTier tier) {
    ChainSpace current = space;
    int group = store.place().groupIdx();
    if (current == null || !nameable(store, tier, current)) {
      blocks.unnamed(tier, group);
      for (long hash : store.blockHashes()) {
        blocks.add(hash, 0);
      }
      return blocks;
    }
    Long parent = store.parentBlockHash();
    if (parent == null) {
      blocks.atRoot(tier, group, current.rootKey());
    } else {
      blocks.behind(tier, group, parent);
    }
    for (int i = 0; i < store.blockHashes().length; i++) {
      blocks.add(store.blockHashes()[i], localHash(store, i));
    }
    return blocks;
  }

  private long localHash(BlockStored store, int block) {
    boolean root = block == 0 && store.parentBlockHash() == null;
    return root && source.dialect() == EngineDialect.SGLANG
        ? namespaces.rootLocalHash(store)
        : store.localHash(block);
  }

  private boolean nameable(BlockStored store, StorageTier tier, ChainSpace current) {
    int count = store.blockHashes().length;
    int size = store.tokens().blockSizeTokens();
    Naming naming = store.naming();
    if (naming != Naming.DENSE) {
      counters.add(reason(naming), count);
      return false;
    }
    if (size != current.blockSizeTokens()) {
      return differentSize(store);
    }
    if (store.place().groupIdx() != mainGroup) {
      return false;
    }
    if (store.tokens().lookaheadTokens() != current.lookaheadTokens() || lacksKeys(store, tier)) {
      counters.add(StreamCounter.UNNAMEABLE_BLOCKS, count);
      return false;
    }
    return true;
  }

  private boolean differentSize(BlockStored store) {
    if (store.place().groupIdx() == mainGroup) {
      counters.add(StreamCounter.PARTIAL_BLOCKS, store.blockHashes().length);
    }
    return false;
  }

  /** vLLM's connectors leave extra keys out, whatever the request had. */
  private boolean lacksKeys(BlockStored store, StorageTier tier) {
    return source.dialect() == EngineDialect.VLLM
        && tier != StorageTier.GPU
        && store.keys().perBlock().isEmpty();
  }

  private static StreamCounter reason(Naming naming) {
    return switch (naming) {
      case TOKENLESS -> StreamCounter.TOKENLESS_BLOCKS;
      case SPARSE -> StreamCounter.SPARSE_BLOCKS;
      default -> StreamCounter.UNNAMEABLE_BLOCKS;
    };
  }

  private void removed(BlockRemoved removal) {
    long[] hashes = removal.blockHashes();
    counters.add(StreamCounter.BLOCKS_REMOVED, hashes.length);
    StorageTier tier = removal.place().tier();
    if (tier == null || tier == StorageTier.REMOTE) {
      return;
    }
    int group = removal.place().groupIdx();
    if (onGpu(tier) && !groups.describes(group)) {
      counters.add(StreamCounter.UNKNOWN_GROUP_REMOVALS, hashes.length);
    }
    removedBlocks.from(tier, group);
    for (long hash : hashes) {
      removedBlocks.add(hash);
    }
    index.removed(slot, removedBlocks);
  }
}
