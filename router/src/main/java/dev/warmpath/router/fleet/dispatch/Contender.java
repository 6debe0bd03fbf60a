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
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One engine that may get a request: what the index shows of the prompt there, and how it stands.
 * Used again for the next request.
 *
 * <p>Confined to one thread.
 */
final class Contender {

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

  /** It is this engine's turn, for another request; nothing is known yet. */
  void begin(EngineState another, EngineView seen, @Nullable BlockChain blocks) {
    engine = another;
    view = seen;
    chain = blocks;
    match.clear();
    expectedTokens = 0;
    ejected = false;
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

  /** Adds it to the candidates, with how it stands now. */
  void fillCandidate(
      Candidates candidates, boolean readsCache, long nowNanos, EngineState.SelectionState state) {
    BlockChain known = readsCache ? chain : null;
    engine().fillCandidate(candidates, known, matchedBlocks(), nowNanos, state);
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
      case EXACT -> new Prediction(match.tokens, Prediction.Basis.INDEX);
      case SUSPECT, CATCHING_UP -> Prediction.none(Prediction.Basis.NOT_TRUSTED);
      case NONE -> Prediction.none(Prediction.Basis.NO_EVENTS);
    };
  }

  boolean isIndexed() {
    return chain != null && view.slot() >= 0 && view.space() != null && view.trust() != Trust.NONE;
  }
}
