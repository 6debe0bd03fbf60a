package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.fleet.EnginePort;
import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.dispatch.DispatchResult.Cause;
import dev.warmpath.router.fleet.engine.EngineState;
import dev.warmpath.router.fleet.match.EngineChain;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.routing.Candidates;
import dev.warmpath.router.routing.PromptBlocks;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The engines among which one request's engine is chosen: who may get it, what the index shows of
 * its prompt on each, and how they stand. Used again for the next request.
 *
 * <p>Confined to one thread.
 */
final class Selection {

  /** One engine that may get the request. */
  static final class Entry {
    private final EngineState engine;
    private final EngineView view;
    private final @Nullable BlockChain chain;
    private int matchedTokens;
    private int gpuTokens;
    private int hostTokens;
    private boolean matched;
    private boolean suspended;

    Entry(EngineState engine, EngineView view, @Nullable BlockChain chain) {
      this.engine = engine;
      this.view = view;
      this.chain = chain;
    }

    EngineState engine() {
      return engine;
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
      return matchedTokens;
    }

    /** Leading blocks that the index shows. */
    int matchedBlocks() {
      return chain == null
          ? 0
          : Math.min(chain.blocks(), matchedTokens / chain.space().blockSizeTokens());
    }

    /** Whether the index does not show all whole blocks of the prompt. */
    boolean isPartlyKnown() {
      return chain != null && matchedBlocks() < chain.blocks();
    }

    /** Leading tokens that the index shows or that are on their way; at least the former. */
    int expectedTokens(long nowNanos) {
      if (chain == null) {
        return 0;
      }
      int blocks = engine.expectedBlocks(chain, matchedBlocks(), nowNanos);
      return Math.max(matchedTokens, blocks * chain.space().blockSizeTokens());
    }

    /**
     * Credits the candidate with the tokens to count on when choosing. What the index shows counts
     * by how far it can be believed; what the router itself has sent there counts in full.
     */
    private void credit(Candidates candidates, int expectedTokens) {
      double weight =
          switch (view.trust()) {
            case EXACT -> 1;
            case SUSPECT -> 0.75;
            case CATCHING_UP -> 0.5;
            case NONE -> 0;
          };
      int matched = (int) (weight * matchedTokens);
      int gpu = (int) (weight * gpuTokens);
      int host = (int) (weight * hostTokens);
      candidates.cached(matched + expectedTokens - matchedTokens, host, matched - gpu - host);
    }

    /** What the index shows of the prompt. */
    private void matched(PrefixMatches matches) {
      matchedTokens = view.slower().reused(matches, view.slot());
      gpuTokens = Math.min(matchedTokens, matches.tokens(view.slot(), StorageTier.GPU));
      int local = Math.min(matchedTokens, matches.tokens(view.slot(), StorageTier.CPU));
      hostTokens = Math.max(0, local - gpuTokens);
      matched = true;
    }

    /** For how many tokens its GPU has room; 0 if that is not known. */
    private long capacityTokens() {
      Replica replica = engine.replica();
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
        case EXACT -> new Prediction(matchedTokens, Prediction.Basis.INDEX);
        case SUSPECT, CATCHING_UP -> Prediction.none(Prediction.Basis.NOT_TRUSTED);
        case NONE -> Prediction.none(Prediction.Basis.NO_EVENTS);
      };
    }

    private boolean isIndexed() {
      return chain != null
          && view.slot() >= 0
          && view.space() != null
          && view.trust() != Trust.NONE;
    }
  }

  /** The prompt's blocks, of the first candidate's chain that is known. */
  private static final class FirstBlocks implements PromptBlocks {
    private @Nullable BlockChain chain;

    @Override
    public int count() {
      return chain == null ? 0 : chain.blocks();
    }

    @Override
    public int blockSizeTokens() {
      return chain == null ? NONE.blockSizeTokens() : chain.space().blockSizeTokens();
    }

    @Override
    public long key(int index) {
      return Objects.requireNonNull(chain).blockKey(index);
    }
  }

  /** Hears why a replica is none of them. */
  interface PassedOver {
    PassedOver UNHEARD = (replica, cause) -> {};

    void because(String engine, Cause cause);
  }

  private final List<Entry> entries = new ArrayList<>();
  private final List<Entry> rows = new ArrayList<>();
  private final PrefixMatches matches = new PrefixMatches();
  private final Candidates candidates = new Candidates();
  private final FirstBlocks blocks = new FirstBlocks();
  private Cause nearest = Cause.NO_REPLICA;

  /** Takes the engines that may get the request, with what the index shows on them. */
  void gather(
      EngineTable table,
      PreparedRequest request,
      Set<String> excluded,
      EnginePort port,
      PassedOver passedOver) {
    entries.clear();
    nearest = Cause.NO_REPLICA;
    for (List<EngineState> ranks : table.engines()) {
      Replica replica = ranks.get(0).replica();
      Cause obstacle = obstacle(replica, request, excluded);
      if (obstacle == null) {
        ranks.forEach(engine -> entries.add(entry(engine, request.prompt(), port)));
      } else {
        nearest = obstacle.compareTo(nearest) > 0 ? obstacle : nearest;
        passedOver.because(replica.name(), obstacle);
      }
    }
    blocks.chain = firstChain();
  }

  private @Nullable BlockChain firstChain() {
    for (Entry entry : entries) {
      if (entry.chain != null) {
        return entry.chain;
      }
    }
    return null;
  }

  private static Entry entry(EngineState engine, Prompt prompt, EnginePort port) {
    EngineView view = port.view(engine.replica(), engine.dpRank());
    return new Entry(engine, view, prompt.chain(view));
  }

  private static @Nullable Cause obstacle(
      Replica replica, PreparedRequest request, Set<String> excluded) {
    if (!replica.serves(request.model())) {
      return Cause.UNKNOWN_MODEL;
    }
    if (replica.draining()) {
      return Cause.DRAINING;
    }
    if (replica.health() == Replica.Health.DOWN) {
      return Cause.DOWN;
    }
    return excluded.contains(replica.name()) ? Cause.EXCLUDED : null;
  }

  /** Asks the index, once for each chain. */
  void match(KvIndex index) {
    for (int i = 0; i < entries.size(); i++) {
      Entry first = entries.get(i);
      if (first.matched || !first.isIndexed()) {
        continue;
      }
      index.match(Objects.requireNonNull(first.chain), matches);
      for (int j = i; j < entries.size(); j++) {
        Entry entry = entries.get(j);
        if (entry.chain == first.chain && entry.isIndexed()) {
          entry.matched(matches);
        }
      }
    }
  }

  /**
   * Fills the candidates with how the engines stand now; suspended ones are among them only if
   * there are no others, not even full ones: a request had better wait for these.
   *
   * @param mostRequests a replica with as many in flight gets no more
   * @return whether there is any
   */
  boolean stand(Prompt prompt, int mostRequests, long nowNanos, PassedOver passedOver) {
    candidates.clear();
    rows.clear();
    for (Entry entry : entries) { // all locks before any replica's count: see Dispatcher
      entry.suspended = entry.engine.isSuspended(nowNanos);
    }
    boolean anySuspended = false;
    boolean anyOther = false;
    for (Entry entry : entries) {
      anySuspended |= entry.suspended;
      anyOther |= !entry.suspended;
      if (isFull(entry, mostRequests)) {
        nearest = Cause.FULL;
        passedOver.because(entry.engine.replica().name(), Cause.FULL);
      } else if (!entry.suspended) {
        add(entry, prompt, nowNanos);
      }
    }
    if (anySuspended) {
      suspended(!anyOther, prompt, mostRequests, nowNanos, passedOver);
    }
    return !rows.isEmpty();
  }

  private static boolean isFull(Entry entry, int mostRequests) {
    Replica replica = entry.engine.replica();
    return replica.requests() >= Math.min(mostRequests, replica.limit());
  }

  private void suspended(
      boolean noOther, Prompt prompt, int mostRequests, long nowNanos, PassedOver passedOver) {
    for (Entry entry : entries) {
      if (!entry.suspended || isFull(entry, mostRequests)) {
        continue;
      }
      if (noOther) {
        add(entry, prompt, nowNanos);
      } else {
        passedOver.because(entry.engine.name(), Cause.SUSPENDED);
      }
    }
  }

  private void add(Entry entry, Prompt prompt, long nowNanos) {
    int expected = prompt.readsCache() ? entry.expectedTokens(nowNanos) : 0;
    entry.engine.addTo(candidates, nowNanos).capacity(entry.capacityTokens());
    if (prompt.readsCache()) {
      entry.credit(candidates, expected);
    }
    rows.add(entry);
  }

  /** The prompt's blocks on each. */
  List<EngineChain> chains() {
    return entries.stream()
        .map(entry -> new EngineChain(entry.engine.replica().name(), entry.view, entry.chain))
        .toList();
  }

  boolean isEmpty() {
    return entries.isEmpty();
  }

  /** Why there is none, if there is none: what keeps back the replica that came nearest. */
  Cause nearest() {
    return nearest;
  }

  Candidates candidates() {
    return candidates;
  }

  /** The prompt's blocks, until the release. */
  PromptBlocks blocks() {
    return blocks;
  }

  /** The engine of a candidate. */
  Entry row(int row) {
    return rows.get(row);
  }

  /** Lets go of all that the request was about. */
  void release() {
    entries.clear();
    rows.clear();
    candidates.clear();
    blocks.chain = null;
  }
}
