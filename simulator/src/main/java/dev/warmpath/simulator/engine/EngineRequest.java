package dev.warmpath.simulator.engine;

/**
 * One sequence to serve, and how far its engine has come with it. A subclass adds what the caller
 * wants to find again when the engine reports on it.
 *
 * <p>Single writer.
 */
public class EngineRequest extends CachedSequence {

  /** {@link #mostLoadTokens} of a request that loads whatever host memory has. */
  public static final int NO_CAP = Integer.MAX_VALUE;

  private static final int NOT_SCHEDULED = -1;

  /** How far its life has come. */
  enum Phase {
    NEW,
    SUBMITTED,
    /** Ended, but its blocks wait for another engine. */
    HELD,
    ENDED
  }

  /**
   * What another engine has to do with a request.
   *
   * @param receivedTokens prompt tokens, from the first, whose blocks another engine computed; they
   *     are there when the request is submitted
   * @param holdsBlocks whether it keeps its blocks after its last token until {@link
   *     SimulatedEngine#free}, so that another engine can fetch them
   */
  public record Transfer(int receivedTokens, boolean holdsBlocks) {

    /** Served by one engine. */
    public static final Transfer NONE = new Transfer(0, false);

    public Transfer {
      if (receivedTokens < 0) {
        throw new IllegalArgumentException("receivedTokens=" + receivedTokens);
      }
    }
  }

  private final int answerTokens;
  private final boolean readsCache;
  private final Transfer transfer;
  private final int mostLoadTokens;

  Phase phase = Phase.NEW;
  int lengthTokens;
  int computedTokens;
  int stepTokens;

  /** Where what its load brings begins and ends, in tokens. */
  int loadFromTokens;

  int loadToTokens;
  long loadBeginsNanos;
  long loadEndsNanos;

  /** How long it has waited for loads. */
  long loadNanos;

  /** Up to here, computing one token more changes nothing in the cache. */
  int untouchedUntilTokens;

  private int cachedTokens = NOT_SCHEDULED;
  private int hostTokens;
  private int receivedTokens;

  /**
   * @param names of the prompt's and the answer's full blocks
   * @param promptTokens at least one
   * @param answerTokens what the engine is going to generate, at least one
   * @param readsCache false for requests that must compute their whole prompt (prompt log
   *     probabilities)
   * @param mostLoadTokens it loads from host memory at most, and computes what it lacks then; 0 or
   *     more ({@code max_load_tokens})
   */
  public EngineRequest(
      BlockNames names,
      int promptTokens,
      int answerTokens,
      boolean readsCache,
      Transfer transfer,
      int mostLoadTokens) {
    super(names, promptTokens);
    if (mostLoadTokens < 0) {
      throw new IllegalArgumentException("mostLoadTokens=" + mostLoadTokens);
    }
    if (answerTokens < 1 || transfer.receivedTokens > promptTokens) {
      throw new IllegalArgumentException(
          "answerTokens=%d receivedTokens=%d promptTokens=%d"
              .formatted(answerTokens, transfer.receivedTokens, promptTokens));
    }
    this.answerTokens = answerTokens;
    this.readsCache = readsCache;
    this.transfer = transfer;
    this.mostLoadTokens = mostLoadTokens;
    lengthTokens = promptTokens;
  }

  /** One that a single engine serves. */
  public EngineRequest(BlockNames names, int promptTokens, int answerTokens, boolean readsCache) {
    this(names, promptTokens, answerTokens, readsCache, Transfer.NONE, NO_CAP);
  }

  /** One that reads the cache. */
  public EngineRequest(BlockNames names, int promptTokens, int answerTokens) {
    this(names, promptTokens, answerTokens, true);
  }

  public final int answerTokens() {
    return answerTokens;
  }

  public final boolean readsCache() {
    return readsCache;
  }

  /** How many tokens it loads from host memory at most. */
  public final int mostLoadTokens() {
    return mostLoadTokens;
  }

  /** How long it has waited for loads, in milliseconds. */
  public final double loadMillis() {
    return loadNanos / 1e6;
  }

  /** Tokens generated so far. */
  public final int generatedTokens() {
    return lengthTokens - promptTokens();
  }

  /** Prompt tokens reused when the request was first scheduled; -1 before that. */
  public final int cachedTokens() {
    return cachedTokens;
  }

  /** Those of the {@link #cachedTokens} that came from host memory. */
  public final int hostTokens() {
    return hostTokens;
  }

  /** Those of the {@link #cachedTokens} that another engine computed. */
  public final int receivedTokens() {
    return receivedTokens;
  }

  /** Whether it keeps its blocks after its last token. */
  protected final boolean holdsBlocks() {
    return transfer.holdsBlocks;
  }

  /** Prompt tokens that came from another engine and are still there: none after a preemption. */
  final int receivedAtAdmission() {
    return cachedTokens == NOT_SCHEDULED ? transfer.receivedTokens : 0;
  }

  /** Whether it was never scheduled before; sets what it reuses then. */
  final boolean firstScheduled(KvCache.Hit hit) {
    boolean first = cachedTokens == NOT_SCHEDULED;
    if (first) {
      cachedTokens = Math.max(hit.tokens(), transfer.receivedTokens);
      hostTokens = hit.hostTokens();
      receivedTokens = cachedTokens - hit.tokens();
    }
    return first;
  }

  /** Tokens that are there but not yet computed. */
  final int pendingTokens() {
    return lengthTokens - computedTokens;
  }
}
