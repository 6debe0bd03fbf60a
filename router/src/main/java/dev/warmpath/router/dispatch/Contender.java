package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.router.fleet.LoadedTokens;
import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Store;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.LoadBack;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One engine that may get a request: what the index shows of the prompt there, and how it stands.
 * Used again for the next request.
 *
 * <p>Confined to one thread.
 */
final class Contender {

  /** What a prefill costs others where none waits, in its own time: as WarmPolicy has it. */
  private static final double OTHERS = 0.5;

  /** What the index shows of a prompt on an engine: leading tokens that the engine would reuse. */
  private static final class IndexMatch {
    private boolean asked;
    private int tokens;
    private int gpuTokens;
    private int hostTokens;
    private int handedTokens;
    private int mostTokens;
    private long heldBlocks = KvIndex.UNKNOWN;
    private Store.@Nullable Read stored;

    void clear() {
      asked = false;
      tokens = 0;
      gpuTokens = 0;
      hostTokens = 0;
      handedTokens = 0;
      mostTokens = 0;
      heldBlocks = KvIndex.UNKNOWN;
      stored = null;
    }

    void read(Store.Read read) {
      stored = read;
      tokens = read.creditTokens();
    }

    int storeTokens() {
      return stored == null ? 0 : tokens - stored.ownTokens();
    }

    void read(PrefixMatches matches, EngineView view, boolean slowTiers) {
      asked = true;
      tokens = view.slowTier().reused(matches, view.slot());
      gpuTokens = Math.min(tokens, matches.tokens(view.slot(), StorageTier.GPU));
      tokens = slowTiers ? tokens : gpuTokens;
      int local = Math.min(tokens, matches.tokens(view.slot(), StorageTier.CPU));
      hostTokens = Math.max(0, local - gpuTokens);
      handedTokens = slowTiers ? matches.hostTokens(view.slot()) : 0;
    }
  }

  private @Nullable EngineState engine;
  private EngineView view = EngineView.UNSEEN;
  private @Nullable BlockChain chain;
  private @Nullable Store store;
  private final IndexMatch match = new IndexMatch();
  private int expectedTokens;
  private boolean ejected;
  private SlowTier slowTier = SlowTier.NOTHING;
  private @Nullable Pull pull;

  /**
   * What the engine would get from another one.
   *
   * @param tokens leading tokens that it need not compute then
   */
  record Pull(EngineState from, int tokens) {}

  /** What becomes of that part of a prompt which only the engine's slower memory holds. */
  enum SlowTier {
    /** It holds no such part, or that is on its way to the GPU. */
    NOTHING,
    /** It is read back. */
    LOADED,
    /** It is computed again, and the engine told so. */
    COMPUTED,
    /** It is read back, and what lies behind it comes from another engine. */
    PULLED;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** It is this engine's turn, for another request; nothing is known yet. */
  void begin(
      EngineState another, EngineView seen, @Nullable BlockChain blocks, @Nullable Store reads) {
    engine = another;
    view = seen;
    chain = blocks;
    store = reads;
    match.clear();
    expectedTokens = 0;
    ejected = false;
    slowTier = SlowTier.NOTHING;
    pull = null;
  }

  /** Lets go of the request. */
  void release() {
    engine = null;
    pull = null;
    store = null;
    match.clear();
    view = EngineView.UNSEEN;
    chain = null;
  }

  EngineState engine() {
    return Objects.requireNonNull(engine);
  }

  EngineView view() {
    return view;
  }

  /** The prompt's blocks in the engine's space, null if its tokens are not known. */
  @Nullable BlockChain chain() {
    return chain;
  }

  /** Leading tokens that the engine would reuse; 0 if its index is not believed. */
  int matchedTokens() {
    return match.tokens;
  }

  /** Leading blocks that the index shows. */
  int matchedBlocks() {
    return chain == null
        ? 0
        : Math.min(chain.blocks(), match.tokens / chain.space().blockSizeTokens());
  }

  /** Whether the index does not show all whole blocks of the prompt. */
  boolean isPartlyKnown() {
    return chain != null && matchedBlocks() < chain.blocks();
  }

  /** Leading tokens that the index shows on the engine, of all, which holds most. */
  int mostTokens() {
    return Math.max(match.tokens, match.mostTokens);
  }

  /** Leading tokens that the index shows or that are on their way; at least the former. */
  int expectedTokens() {
    return expectedTokens;
  }

  /** Whether it failed too often just now to be taken. */
  boolean isEjected() {
    return ejected;
  }

  /** Whether what the index shows was {@link #matched asked for}. */
  boolean isMatched() {
    return match.asked;
  }

  /** What becomes of what only its slower memory holds; as {@link #fillCandidate} has decided. */
  SlowTier slowTier() {
    return slowTier;
  }

  /** What it gets from another engine if it serves the request alone; null for nothing. */
  @Nullable Pull pull() {
    return pull;
  }

  /** Leading tokens that only its slower memory holds. */
  int slowTokens() {
    return match.tokens - match.gpuTokens;
  }

  /** What it loads, with what it gets from another engine if it does. */
  LoadedTokens loaded(@Nullable Pull pulled) {
    if (pulled != null) {
      return own(pulled.tokens - match.tokens, pulled.from);
    }
    return slowTier == SlowTier.LOADED ? own(0, null) : LoadedTokens.NOTHING;
  }

  private LoadedTokens own(int pulledTokens, @Nullable EngineState from) {
    int stored = match.storeTokens();
    int disk = slowTokens() - match.hostTokens - stored;
    return new LoadedTokens(match.hostTokens, disk, stored, pulledTokens, from);
  }

  /**
   * Adds it to the candidates, with how it stands now.
   *
   * @param rule whether it reads back what only slower memory holds
   * @param caps whether the request can tell it not to
   */
  void fillCandidate(
      Candidates candidates,
      Prompt prompt,
      LoadBack rule,
      boolean caps,
      long nowNanos,
      EngineState.SelectionState state) {
    BlockChain known = prompt.readsCache() ? chain : null;
    engine().fillCandidate(candidates, known, matchedBlocks(), nowNanos, state);
    ejected = state.ejected();
    if (slowTokens() > 0) {
      engine().findsEvicted();
    }
    candidates.capacity(capacityTokens()).holding(heldTokens());
    candidates.keepingEvicted(state.keepsEvicted());
    candidates.weighing(engine().replica().weight());
    OtherLoad others = engine().replica().otherLoad(engine().dpRank());
    if (others.requests() > 0) {
      candidates.others(others.running(), others.waiting(), others.kvUse());
    }
    expectedTokens = 0;
    slowTier = SlowTier.NOTHING;
    pull = null;
    if (known != null) {
      int blockSize = known.space().blockSizeTokens();
      expectedTokens = Math.max(match.tokens, state.expectedBlocks() * blockSize);
      credit(candidates);
      // more on its way: the part before it is on the GPU by then; but the last block of a prompt
      // is
      // never matched
      if (slowTokens() > 0 && expectedTokens <= match.tokens + blockSize) {
        readBack(candidates, prompt.lengthTokens(), rule, caps && state.capsLoads(), nowNanos);
      }
    }
  }

  /**
   * Decides what becomes of what only slower memory holds. To read it back takes its place in the
   * queue of the engine's loads; to compute it holds up those who wait there, as any prefill does.
   */
  private void readBack(
      Candidates candidates, int promptTokens, LoadBack rule, boolean caps, long nowNanos) {
    int row = candidates.count() - 1;
    int credit = Math.min(candidates.creditTokens(row), promptTokens);
    int onGpu = Math.max(0, credit - candidates.hostTokens(row) - candidates.diskTokens(row));
    double loading = loadMillis(candidates, row, own(0, null), nowNanos);
    boolean computes =
        caps
            && (rule == LoadBack.NEVER
                || (rule == LoadBack.CHEAPEST
                    && prefillMillis(candidates, row, onGpu, promptTokens)
                        < loading + prefillMillis(candidates, row, credit, promptTokens)));
    slowTier = computes ? SlowTier.COMPUTED : SlowTier.LOADED;
    if (computes) {
      candidates.cached(onGpu, 0, 0);
    } else {
      candidates.loading(loading);
    }
  }

  private double loadMillis(Candidates candidates, int row, LoadedTokens loaded, long nowNanos) {
    return engine().loadMillis(loaded, candidates.prefillBacklogMillis(row), nowNanos);
  }

  /** What it costs, with those who are held up by it, to compute what is not cached. */
  private static double prefillMillis(
      Candidates candidates, int row, int cachedTokens, int promptTokens) {
    double millis = candidates.cost(row).millis(promptTokens - cachedTokens, promptTokens);
    return (1 + OTHERS + candidates.waiting(row)) * millis;
  }

  /** Whether others may have what its CPU memory holds of the prompt. */
  boolean handsOut(long nowNanos) {
    return match.handedTokens > 0
        && view.trust() == Trust.EXACT
        && !ejected
        && engine().replica().transfer().connector() == KvTransfer.Connector.OFFLOADING
        && engine().mayBePulled(nowNanos);
  }

  /** Leading tokens that it may hand out. */
  int handedTokens() {
    return match.handedTokens;
  }

  /**
   * Decides, for a request that it would serve alone, whether it gets more of the prompt from one
   * of these than it holds itself. That takes its place in the queue of the engine's loads, and
   * brings what its own slower memory holds as well.
   *
   * @param row where it is filled
   */
  void pull(Candidates candidates, int row, List<Contender> from, Prompt prompt, long nowNanos) {
    BlockChain known = chain;
    if (known == null || view.trust() != Trust.EXACT || !engine().mayPull(nowNanos)) {
      return;
    }
    int length = prompt.lengthTokens();
    int held = expectedTokens + known.space().blockSizeTokens(); // the rest may be on its way
    double least =
        candidates.loadMillis(row)
            + prefillMillis(candidates, row, candidates.creditTokens(row), length);
    double pulling = 0;
    for (int i = 0; i < from.size(); i++) {
      Contender other = from.get(i);
      int end = other.view.slowTier().reused(match.gpuTokens, other.match.handedTokens);
      if (end <= held || !isServedBy(other)) {
        continue;
      }
      Pull possible = new Pull(other.engine(), end);
      double loading = loadMillis(candidates, row, loaded(possible), nowNanos);
      double millis = loading + prefillMillis(candidates, row, end, length);
      if (millis < least) {
        least = millis;
        pull = possible;
        pulling = loading;
      }
    }
    if (pull != null) {
      candidates.pull(row, pull.tokens, pulling);
    }
  }

  /** Whether the other one's blocks are the same and can come here. */
  private boolean isServedBy(Contender other) {
    return other != this
        && (view.space() == null || chain == other.chain)
        && engine().replica().transfer().pullsFrom(other.engine().replica().transfer());
  }

  /**
   * Credits the candidate with the tokens to count on when choosing. What the index shows counts by
   * how far it can be believed; what the router itself has sent there counts in full.
   */
  private void credit(Candidates candidates) {
    double weight = trustWeight(view.trust());
    int all = (int) (weight * match.tokens);
    int gpu = (int) (weight * match.gpuTokens);
    int host = (int) (weight * match.hostTokens);
    candidates.cached(all + expectedTokens - match.tokens, host, all - gpu - host);
  }

  private static double trustWeight(Trust trust) {
    return switch (trust) {
      case EXACT -> 1;
      case SUSPECT -> 0.75;
      case CATCHING_UP -> 0.5;
      case NONE -> 0;
    };
  }

  /**
   * What the index shows of the prompt.
   *
   * @param heldBlocks all that the index shows on the engine's GPU, or {@link KvIndex#UNKNOWN}
   * @param slowTiers whether what slower memory than the GPU's holds counts
   * @param mostTokens what it shows on the engine that holds most
   */
  void matched(
      PrefixMatches matches, long heldBlocks, boolean slowTiers, int mostTokens, long nowNanos) {
    match.read(matches, view, slowTiers);
    match.heldBlocks = heldBlocks;
    match.mostTokens = mostTokens;
    if (store != null && slowTiers) {
      readStore(store, matches, nowNanos);
    }
  }

  /** An engine that reads a store finds there what it holds from the prompt's begin on. */
  private void readStore(Store from, PrefixMatches matches, long nowNanos) {
    EngineView held = from.view();
    BlockChain known = chain;
    if (known == null
        || held.slot() < 0
        || held.trust() == Trust.NONE
        || !known.space().equals(held.space())) {
      return;
    }
    int tokens = matches.tokens(held.slot());
    if (tokens > match.tokens) {
      match.read(from.read(known, match.tokens, tokens, held.trust(), nowNanos));
    }
  }

  /**
   * What it reads from a store that others read too, if it serves the request; null for nothing.
   */
  Store.@Nullable Read stored() {
    return slowTier == SlowTier.COMPUTED ? null : match.stored;
  }

  /** For how many tokens its GPU has room; 0 if that is not known. */
  private long capacityTokens() {
    Replica replica = engine().replica();
    ChainSpace space = view.space();
    return space == null ? 0 : replica.gpuBlocks() / replica.ranks() * space.blockSizeTokens();
  }

  /** How many tokens its GPU holds, if nothing that it holds can have been missed. */
  private long heldTokens() {
    ChainSpace space = view.space();
    return space == null || view.trust() != Trust.EXACT || match.heldBlocks == KvIndex.UNKNOWN
        ? Candidates.UNKNOWN
        : match.heldBlocks * space.blockSizeTokens();
  }

  /**
   * What the engine will report for {@code prompt} if it gets it.
   *
   * @param pulled what it gets from another one
   */
  Prediction prediction(Prompt prompt, @Nullable Pull pulled) {
    if (chain == null) {
      return Prediction.none(Prediction.Basis.PROMPT_UNKNOWN);
    }
    if (!prompt.comparable()) {
      return Prediction.none(Prediction.Basis.NOT_COMPARABLE);
    }
    if (!prompt.readsCache()) {
      return new Prediction(0, Prediction.Basis.READS_NO_CACHE);
    }
    return switch (view.trust()) {
      case EXACT ->
          pulled == null && isUnsure()
              ? Prediction.none(Prediction.Basis.NOT_TRUSTED)
              : new Prediction(reusedTokens(pulled), Prediction.Basis.INDEX);
      case SUSPECT, CATCHING_UP -> Prediction.none(Prediction.Basis.NOT_TRUSTED);
      case NONE -> Prediction.none(Prediction.Basis.NO_EVENTS);
    };
  }

  /** Whether it reads a store of which nobody can say what it holds. */
  private boolean isUnsure() {
    Store.Read read = stored();
    return read != null && !read.isSure();
  }

  private int reusedTokens(@Nullable Pull pulled) {
    if (pulled != null) {
      return pulled.tokens;
    }
    return slowTier == SlowTier.COMPUTED ? match.gpuTokens : match.tokens;
  }

  boolean isIndexed() {
    return chain != null && view.slot() >= 0 && view.space() != null && view.trust() != Trust.NONE;
  }
}
