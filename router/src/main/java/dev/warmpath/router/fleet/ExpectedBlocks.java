package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.ClaimTable.Claim;

/**
 * Blocks that one engine does not hold yet but will, because prompts with them were sent to it.
 * They are for choosing only, never for predicting.
 *
 * <p>A request's blocks stay expected until the index shows them to a later request with that
 * prefix that comes here (confirmed), until their time is over (expired), until the request has
 * failed (cancelled), or until room is needed and it is the oldest (dropped); each end is counted.
 * A request that succeeds cuts the time to the {@linkplain Limits#settleNanos settling time}, by
 * which events have come. A block of several requests counts once for each.
 *
 * <p>Confined to its engine's lock.
 */
public final class ExpectedBlocks {

  /** Claims that are over are removed when so many new ones have come, or a quarter. */
  private static final int FEW_CLAIMS = 16;

  /**
   * How many blocks an engine may have and how long they stay.
   *
   * @param blocks the most blocks expected of one engine
   * @param keepNanos how long a request's blocks stay after it was sent
   * @param settleNanos how long they stay after it has ended well
   */
  public record Limits(int blocks, long keepNanos, long settleNanos) {

    /** Room for a million tokens at 16 a block, half a minute, two seconds. */
    public static final Limits DEFAULT = new Limits(1 << 16, 30_000_000_000L, 2_000_000_000L);

    public Limits {
      if (blocks < 1) {
        throw new IllegalArgumentException("blocks=" + blocks);
      }
      if (keepNanos < 0) {
        throw new IllegalArgumentException("keepNanos=" + keepNanos);
      }
      if (settleNanos < 0 || settleNanos > keepNanos) {
        throw new IllegalArgumentException("settleNanos=" + settleNanos);
      }
    }
  }

  /** How many there are and how the others ended. */
  public record Counts(int expected, long confirmed, long expired, long cancelled, long dropped) {}

  private final Limits limits;
  private final ClaimTable claims = new ClaimTable();
  private int sweepAt = FEW_CLAIMS;
  private int expected;
  private long confirmed;
  private long expired;
  private long cancelled;
  private long dropped;

  public ExpectedBlocks(Limits limits) {
    this.limits = limits;
  }

  /**
   * Leading blocks of {@code chain} that are held or expected, if the first {@code heldBlocks} are
   * held.
   */
  public int depth(BlockChain chain, int heldBlocks, long nowNanos) {
    return claims.depth(chain, heldBlocks, nowNanos);
  }

  /**
   * A request with this chain was sent: its first {@code heldBlocks} are confirmed, the others are
   * expected from now on, as far as there may be so many.
   */
  Claim claim(BlockChain chain, int heldBlocks, long nowNanos) {
    int shown = claims.confirm(chain, heldBlocks);
    confirmed += shown;
    expected -= shown;
    int end = end(chain.blocks(), heldBlocks, nowNanos);
    Claim claim = claims.add(chain, heldBlocks, end, nowNanos + limits.keepNanos());
    count(end - heldBlocks);
    return claim;
  }

  /** Another router has sent a request with these marks. */
  Claim claim(PromptMarks prompt, long nowNanos) {
    int held = prompt.at(0);
    int end = end(prompt.blocks(), held, nowNanos);
    Claim claim = claims.add(prompt, held, end, nowNanos + limits.keepNanos());
    count(end - held);
    return claim;
  }

  /** The end of what may be expected of a prompt. */
  private int end(int blocks, int heldBlocks, long nowNanos) {
    int end = Math.min(blocks, heldBlocks + limits.blocks());
    dropped += blocks - end;
    if (claims.rows() >= sweepAt || expected + end - heldBlocks > limits.blocks()) {
      sweep(nowNanos);
    }
    return end;
  }

  private void count(int more) {
    expected += more;
    if (expected > limits.blocks()) {
      int oldest = claims.endOldest(expected - limits.blocks());
      dropped += oldest;
      expected -= oldest;
      compact();
    }
  }

  private void sweep(long nowNanos) {
    int over = claims.expire(nowNanos);
    expired += over;
    expected -= over;
    compact();
  }

  private void compact() {
    claims.compact();
    sweepAt = claims.rows() + Math.max(FEW_CLAIMS, claims.rows() / 4);
  }

  /** The request failed: its blocks are not expected any more. */
  void cancel(Claim claim) {
    int blocks = claims.end(claim);
    cancelled += blocks;
    expected -= blocks;
  }

  /** The request ended well: events about its blocks come now or never. */
  void settle(Claim claim, long nowNanos) {
    claims.endBy(claim, nowNanos + limits.settleNanos());
  }

  /** The counts at {@code nowNanos}. */
  public Counts counts(long nowNanos) {
    sweep(nowNanos);
    return new Counts(expected, confirmed, expired, cancelled, dropped);
  }
}
