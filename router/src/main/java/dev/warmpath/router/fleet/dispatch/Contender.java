package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.LoadBack;
import dev.warmpath.router.routing.PrefillCost;
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

    void clear() {
      asked = false;
      tokens = 0;
      gpuTokens = 0;
      hostTokens = 0;
    }

    void read(PrefixMatches matches, EngineView view, boolean slowTiers) {
      asked = true;
      tokens = view.slowTier().reused(matches, view.slot());
      gpuTokens = Math.min(tokens, matches.tokens(view.slot(), StorageTier.GPU));
      tokens = slowTiers ? tokens : gpuTokens;
      int local = Math.min(tokens, matches.tokens(view.slot(), StorageTier.CPU));
      hostTokens = Math.max(0, local - gpuTokens);
    }
  }

  private @Nullable EngineState engine;
  private EngineView view = EngineView.UNSEEN;
  private @Nullable BlockChain chain;
  private final IndexMatch match = new IndexMatch();
  private int expectedTokens;
  private boolean ejected;
  private SlowTier slowTier = SlowTier.NOTHING;

  /** What becomes of that part of a prompt which only the engine's slower memory holds. */
  enum SlowTier {
    /** It holds no such part, or that is on its way to the GPU. */
    NOTHING,
    /** It is read back. */
    LOADED,
    /** It is computed again, and the engine told so. */
    COMPUTED;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** It is this engine's turn, for another request; nothing is known yet. */
  void begin(EngineState another, EngineView seen, @Nullable BlockChain blocks) {
    engine = another;
    view = seen;
    chain = blocks;
    match.clear();
    expectedTokens = 0;
    ejected = false;
    slowTier = SlowTier.NOTHING;
  }

  /** Lets go of the request. */
  void release() {
    engine = null;
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

  /** Leading tokens that only its slower memory holds. */
  int slowTokens() {
    return match.tokens - match.gpuTokens;
  }

  /** Leading tokens that are read back from its CPU memory. */
  int loadedHostTokens() {
    return slowTier == SlowTier.LOADED ? match.hostTokens : 0;
  }

  /** Leading tokens that are read back from its disk. */
  int loadedDiskTokens() {
    return slowTier == SlowTier.LOADED ? slowTokens() - match.hostTokens : 0;
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
    engine()
        .fillCandidate(
            candidates,
            known,
            matchedBlocks(),
            match.hostTokens,
            slowTokens() - match.hostTokens,
            nowNanos,
            state);
    ejected = state.ejected();
    candidates.capacity(capacityTokens()).weighing(engine().replica().weight());
    OtherLoad others = engine().replica().otherLoad(engine().dpRank());
    if (others.requests() > 0) {
      candidates.others(others.running(), others.waiting(), others.kvUse());
    }
    expectedTokens = 0;
    if (known != null) {
      int blockSize = known.space().blockSizeTokens();
      expectedTokens = Math.max(match.tokens, state.expectedBlocks() * blockSize);
      credit(candidates);
      // more on its way: the part before it is on the GPU by then; but the last block of a prompt
      // is
      // never matched
      if (slowTokens() > 0 && expectedTokens <= match.tokens + blockSize) {
        readBack(candidates, prompt.lengthTokens(), rule, caps && state.capsLoads(), state);
      }
    }
  }

  /**
   * Decides what becomes of what only slower memory holds. To read it back takes its place in the
   * queue of the engine's loads; to compute it holds up those who wait there, as any prefill does.
   */
  private void readBack(
      Candidates candidates,
      int promptTokens,
      LoadBack rule,
      boolean caps,
      EngineState.SelectionState state) {
    int row = candidates.count() - 1;
    int credit = Math.min(candidates.creditTokens(row), promptTokens);
    int onGpu = Math.max(0, credit - candidates.hostTokens(row) - candidates.diskTokens(row));
    double loading = state.loadMillis(candidates.prefillBacklogMillis(row));
    boolean computes = caps && rule == LoadBack.NEVER;
    if (caps && rule == LoadBack.CHEAPEST) {
      PrefillCost cost = candidates.cost(row);
      double more =
          cost.millis(promptTokens - onGpu, promptTokens)
              - cost.millis(promptTokens - credit, promptTokens);
      computes = (1 + OTHERS + candidates.waiting(row)) * more < loading;
    }
    slowTier = computes ? SlowTier.COMPUTED : SlowTier.LOADED;
    if (computes) {
      candidates.cached(onGpu, 0, 0);
    } else {
      candidates.loading(loading);
    }
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
   * @param slowTiers whether what slower memory than the GPU's holds counts
   */
  void matched(PrefixMatches matches, boolean slowTiers) {
    match.read(matches, view, slowTiers);
  }

  /** For how many tokens its GPU has room; 0 if that is not known. */
  private long capacityTokens() {
    Replica replica = engine().replica();
    ChainSpace space = view.space();
    return space == null ? 0 : replica.gpuBlocks() / replica.ranks() * space.blockSizeTokens();
  }

  /** What the engine will report for {@code prompt} if it gets it. */
  Prediction prediction(Prompt prompt) {
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
          new Prediction(
              slowTier == SlowTier.COMPUTED ? match.gpuTokens : match.tokens,
              Prediction.Basis.INDEX);
      case SUSPECT, CATCHING_UP -> Prediction.none(Prediction.Basis.NOT_TRUSTED);
      case NONE -> Prediction.none(Prediction.Basis.NO_EVENTS);
    };
  }

  boolean isIndexed() {
    return chain != null && view.slot() >= 0 && view.space() != null && view.trust() != Trust.NONE;
  }
}
