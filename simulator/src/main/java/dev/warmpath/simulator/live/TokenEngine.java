package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.engine.EngineConfig;
import dev.warmpath.simulator.engine.EngineGauges;
import dev.warmpath.simulator.engine.EngineRequest;
import dev.warmpath.simulator.engine.SimulatedEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult.Token;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A simulated engine that serves tokens, names blocks by their digests and brings the events of
 * each step as they are published.
 *
 * <p>Single writer.
 */
public final class TokenEngine {

  private final int blockSizeTokens;
  private final BlockHashing hashing;
  private final EventRecorder events = new EventRecorder();
  private final SimulatedEngine engine;
  private final Map<String, HashedRequest> requests = new HashMap<>();

  /** Those that have ended and keep their blocks. */
  private final Map<String, HashedRequest> held = new HashMap<>();

  public TokenEngine(EngineConfig config, BlockHashing hashing) {
    blockSizeTokens = config.cache().blockSizeTokens();
    this.hashing = hashing;
    engine = new SimulatedEngine(config, events);
  }

  /** Queues a request; its id must not be in use, its tokens must fit {@code maxModelTokens}. */
  public void submit(TokenRequest request) {
    if (requests.containsKey(request.id()) || held.containsKey(request.id())) {
      throw new IllegalArgumentException("id in use: " + request.id());
    }
    HashedRequest hashed = new HashedRequest(request, blockSizeTokens, hashing);
    engine.submit(hashed);
    requests.put(request.id(), hashed);
  }

  /** Gives up a request; what it stored stays cached. Unknown ids are ignored. */
  public void abort(String requestId) {
    HashedRequest request = requests.remove(requestId);
    if (request != null) {
      engine.abort(request);
    }
  }

  /** Prompt tokens that the request would find in the cache now. */
  public int cachedTokens(TokenRequest request) {
    return engine.cachedTokens(new HashedRequest(request, blockSizeTokens, hashing));
  }

  /** Where the prompt tokens end that host memory holds from {@code fromTokens} on. */
  public int hostEndTokens(TokenRequest request, int fromTokens) {
    return engine.hostEndTokens(new HashedRequest(request, blockSizeTokens, hashing), fromTokens);
  }

  /** Takes the blocks that a request holds after its end; says whether it held any. */
  public boolean free(String requestId) {
    HashedRequest request = held.remove(requestId);
    if (request != null) {
      engine.free(request);
    }
    return request != null;
  }

  /** Numbers of the blocks of a request that holds them after its end, by group; else empty. */
  public int[][] heldBlocks(String requestId) {
    HashedRequest request = held.get(requestId);
    return request == null ? new int[0][] : request.heldBlocks();
  }

  /** Whether there is nothing to do. Events may still wait for the next step. */
  public boolean idle() {
    return engine.idle();
  }

  /** Begins a step at the end of the one before, as far as that was known at its begin. */
  public double beginStep() {
    return engine.beginStep();
  }

  /**
   * Schedules the next step and returns how long it takes, in milliseconds.
   *
   * @param nowNanos since any moment, always the same
   */
  public double beginStep(long nowNanos) {
    return engine.beginStep(nowNanos);
  }

  /** Whether the step under way lasts until a load ends, and may be ended earlier. */
  public boolean waitsForLoad() {
    return engine.waitsForLoad();
  }

  /** Ends the step: a token for each sequence that is computed to its end, and the events. */
  public StepResult endStep() {
    List<Token> tokens = new ArrayList<>();
    engine.endStep((request, index, last) -> tokens.add(token(request, index, last)));
    return new StepResult(tokens, events.takeEvents());
  }

  /**
   * Empties the cache unless a request holds blocks; says whether it did. The event goes out with
   * the next step.
   */
  public boolean resetPrefixCache() {
    return engine.resetPrefixCache();
  }

  public EngineGauges load() {
    return engine.load();
  }

  /** Physical blocks that are committed under a digest, copies included. */
  public int committedBlocks() {
    return engine.committedBlocks();
  }

  /** Blocks that host memory holds. */
  public int hostBlocks() {
    return engine.hostBlocks();
  }

  /** Fails if the cache's books do not balance. */
  public void checkInvariants() {
    engine.checkInvariants();
  }

  private Token token(EngineRequest generating, int index, boolean last) {
    HashedRequest hashed = (HashedRequest) generating;
    TokenRequest request = hashed.request();
    if (last) {
      requests.remove(request.id());
      if (request.transfer().holdsBlocks()) {
        held.put(request.id(), hashed);
      }
    }
    return new Token(
        request.id(),
        request.answer()[index],
        index,
        generating.cachedTokens(),
        generating.hostTokens() + generating.receivedTokens(),
        last);
  }

  /**
   * What one step brought: tokens for its requests, in scheduling order, and the cache events to
   * publish as one batch.
   */
  public record StepResult(List<Token> tokens, List<CacheEvent> events) {

    public StepResult {
      tokens = List.copyOf(tokens);
      events = List.copyOf(events);
    }

    /**
     * One generated token.
     *
     * @param index position in the answer; 0 is the first token
     * @param cachedTokens prompt tokens reused when the request was first scheduled
     * @param externalTokens those of them that came from host memory or another engine
     */
    public record Token(
        String requestId,
        int tokenId,
        int index,
        int cachedTokens,
        int externalTokens,
        boolean last) {}
  }

  /**
   * Turns the changes of a cache of {@link HashedRequest}s into the events that an engine
   * publishes.
   *
   * <p>Keeps the digest of each committed block, so that its removal can be published too.
   *
   * <p>Single writer.
   */
  public static final class EventRecorder implements CacheListener {

    private final Map<Long, Copies> committed = new HashMap<>();
    private final List<CacheEvent> events = new ArrayList<>();

    /** A digest and how many blocks, of all groups and tiers, are committed under it. */
    private static final class Copies {
      private final BlockHash hash;
      private int count;

      Copies(BlockHash hash) {
        this.hash = hash;
      }
    }

    /** The events since the last call. */
    public List<CacheEvent> takeEvents() {
      List<CacheEvent> taken = List.copyOf(events);
      events.clear();
      return taken;
    }

    @Override
    public void stored(
        CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {
      HashedRequest request = (HashedRequest) sequence;
      keep(request, heldFrom, toBlock);
      announce(StorageTier.GPU, request, group, fromBlock, toBlock, heldFrom);
    }

    /** Each block by itself, as connectors announce those that they can load alone. */
    @Override
    public void storedOnHost(
        CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock) {
      HashedRequest request = (HashedRequest) sequence;
      keep(request, fromBlock, toBlock);
      for (int block = fromBlock; block < toBlock; block++) {
        announce(StorageTier.CPU, request, group, block, block + 1, block);
      }
    }

    @Override
    public void storedInStore(CachedSequence sequence, CacheGroup group, int block) {
      HashedRequest request = (HashedRequest) sequence;
      BlockHash parent = block == 0 ? null : request.hash(block - 1);
      int[] tokenIds = request.tokens(block, block + 1);
      events.add(new CacheEvent.Put(group, parent, request.hash(block), tokenIds));
    }

    private void keep(HashedRequest request, int fromBlock, int toBlock) {
      for (int block = fromBlock; block < toBlock; block++) {
        BlockHash hash = request.hash(block);
        committed.computeIfAbsent(hash.name(), name -> new Copies(hash)).count++;
      }
    }

    @Override
    public void removed(int group, long blockName) {
      events.add(new CacheEvent.Removed(group, drop(blockName)));
    }

    @Override
    public void removedFromHost(int group, long blockName) {
      events.add(new CacheEvent.Removed(StorageTier.CPU, group, drop(blockName)));
    }

    private BlockHash drop(long blockName) {
      Copies copies = committed.get(blockName);
      if (copies == null) {
        throw new IllegalStateException("never stored: " + Long.toHexString(blockName));
      }
      if (--copies.count == 0) {
        committed.remove(blockName);
      }
      return copies.hash;
    }

    @Override
    public void cleared() {
      committed.clear();
      events.add(new CacheEvent.Cleared());
    }

    private void announce(
        StorageTier tier,
        HashedRequest request,
        CacheGroup group,
        int fromBlock,
        int toBlock,
        int heldFrom) {
      PromptKeys keys = request.request().keys();
      List<BlockHash> hashes = new ArrayList<>(toBlock - heldFrom);
      List<List<ExtraKey>> extraKeys = new ArrayList<>(toBlock - heldFrom);
      for (int block = heldFrom; block < toBlock; block++) {
        hashes.add(request.hash(block));
        extraKeys.add(keys.of(block, group.blockSizeTokens()));
      }
      BlockHash parent = fromBlock == 0 ? null : request.hash(fromBlock - 1);
      int[] tokenIds = request.tokens(fromBlock, toBlock);
      events.add(
          new CacheEvent.Stored(tier, group, parent, hashes, tokenIds, extraKeys, keys.loraName()));
    }
  }
}
