package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an engine holds for one request until it is over: load and expected blocks.
 *
 * <p>Confined to its engine's lock.
 */
public final class Reservation {

  final EngineLoad.Share share;
  final LoadQueue.@Nullable Load load;
  final ClaimTable.@Nullable Claim claim;
  final boolean probe;
  final long sinceNanos;
  final EngineState.@Nullable Demand demand;
  final long turn;
  boolean alone;
  boolean answered;
  boolean firstToken;
  long firstTokenNanos;
  double firstContextTokenMillis;
  long firstComputedMicros;
  long firstUntimed;
  boolean amongOthers;
  boolean over;

  /** Counts as usage: a client wants it. */
  boolean used;

  /**
   * @param load what is read back for it from slower memory
   * @param claim the blocks expected because of it, null if its tokens are not known
   * @param probe whether this is the trial request of an ejected engine
   * @param sinceNanos when it was made
   * @param demand what for; null if another router made it
   * @param turn numbers it
   */
  Reservation(
      EngineLoad.Share share,
      LoadQueue.@Nullable Load load,
      ClaimTable.@Nullable Claim claim,
      boolean probe,
      long sinceNanos,
      EngineState.@Nullable Demand demand,
      long turn) {
    this.share = share;
    this.load = load;
    this.claim = claim;
    this.probe = probe;
    this.sinceNanos = sinceNanos;
    this.demand = demand;
    this.turn = turn;
  }

  /**
   * It as other routers are told.
   *
   * @param engine the engine's name
   * @param note what the policy wants remembered
   */
  public Booking booking(String engine, long[] note) {
    EngineState.Demand own = Objects.requireNonNull(demand);
    BlockChain chain = own.chain();
    PromptMarks marks =
        chain == null || own.heldBlocks() >= chain.blocks()
            ? null
            : PromptMarks.of(chain, own.heldBlocks());
    return new Booking(
        turn,
        engine,
        own.promptTokens(),
        share.prefillTokens,
        share.streamed,
        chain != null,
        own.heldBlocks(),
        marks,
        note);
  }

  /** Leading blocks that the index showed there; 0 if another router made it. */
  public int heldBlocks() {
    EngineState.Demand own = demand;
    return own == null ? 0 : own.heldBlocks();
  }

  /** How long its prompt takes there, as it was predicted. */
  public double prefillMillis() {
    return share.prefillMicros / 1e3;
  }

  /** Numbers it among the reservations of its router. */
  public long turn() {
    return turn;
  }

  /** When it was made. */
  public long sinceNanos() {
    return sinceNanos;
  }
}
