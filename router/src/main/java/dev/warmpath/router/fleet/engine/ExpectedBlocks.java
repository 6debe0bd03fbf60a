package dev.warmpath.router.fleet.engine;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.ArrayList;
import java.util.List;

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

  /*
   * One claim a request: its chain and the part [from, to) of it that is expected. A block key names
   * its whole prefix, so one comparison, at `from`, shows whether another chain leads into a claim.
   * No cost grows with the length of a prompt; it does with the number of claims, so each has that
   * key at hand, and those that are over are removed only when they are half of all. Claims stand
   * in the order in which they were made.
   */

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

  /** What one request brings. */
  public static final class Claim {
    private final BlockChain chain;
    private final int to;
    private int from;
    private long fromKey;
    private long deadlineNanos;

    private Claim(BlockChain chain, int from, int to, long deadlineNanos) {
      this.chain = chain;
      this.to = to;
      this.deadlineNanos = deadlineNanos;
      moveTo(from);
    }

    private void moveTo(int block) {
      from = block;
      fromKey = block < to ? chain.blockKey(block) : 0;
    }

    private int blocks() {
      return to - from;
    }

    private boolean isOver(long nowNanos) {
      return from == to || nowNanos - deadlineNanos >= 0;
    }

    /** Up to which block {@code other} runs along this claim; 0 if it does not lead into it. */
    private int reach(BlockChain other) {
      boolean leadsHere =
          from < to && from < other.blocks() && other.blockKey(from) == fromKey;
      return leadsHere ? Math.min(to, chain.sharedBlocks(other)) : 0;
    }
  }

  /** How many there are and how the others ended. */
  public record Counts(int expected, long confirmed, long expired, long cancelled, long dropped) {}

  private final Limits limits;
  private final List<Claim> claims = new ArrayList<>();
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
    int depth = heldBlocks;
    int before;
    do {
      before = depth;
      for (Claim claim : claims) {
        if (claim.from <= depth && depth < claim.to && !claim.isOver(nowNanos)) {
          depth = Math.max(depth, claim.reach(chain));
        }
      }
    } while (depth > before);
    return depth;
  }

  /**
   * A request with this chain was sent: its first {@code heldBlocks} are confirmed, the others are
   * expected from now on, as far as there may be so many.
   */
  public Claim claim(BlockChain chain, int heldBlocks, long nowNanos) {
    confirm(chain, heldBlocks);
    if (claims.size() >= sweepAt || expected + chain.blocks() - heldBlocks > limits.blocks()) {
      sweep(nowNanos);
      sweepAt = Math.max(FEW_CLAIMS, 2 * claims.size());
    }
    int to = Math.min(chain.blocks(), heldBlocks + limits.blocks());
    dropped += chain.blocks() - to;
    Claim claim = new Claim(chain, heldBlocks, to, nowNanos + limits.keepNanos());
    claims.add(claim);
    expected += claim.blocks();
    while (expected > limits.blocks()) {
      dropped += take(claims.remove(0));
    }
    return claim;
  }

  private void confirm(BlockChain chain, int heldBlocks) {
    for (Claim claim : claims) {
      int shown = claim.from < heldBlocks ? Math.min(heldBlocks, claim.reach(chain)) : 0;
      if (shown > claim.from) {
        confirmed += shown - claim.from;
        expected -= shown - claim.from;
        claim.moveTo(shown);
      }
    }
  }

  private void sweep(long nowNanos) {
    claims.removeIf(claim -> {
      boolean over = claim.isOver(nowNanos);
      expired += over ? take(claim) : 0;
      return over;
    });
  }

  /** The claim stands no more; returns of how many blocks it was. */
  private int take(Claim claim) {
    int blocks = claim.blocks();
    claim.moveTo(claim.to);
    expected -= blocks;
    return blocks;
  }

  /** The request failed: its blocks are not expected any more. */
  public void cancel(Claim claim) {
    cancelled += take(claim);
    claims.remove(claim);
  }

  /** The request ended well: events about its blocks come now or never. */
  public void settle(Claim claim, long nowNanos) {
    long settled = nowNanos + limits.settleNanos();
    if (settled - claim.deadlineNanos < 0) {
      claim.deadlineNanos = settled;
    }
  }

  /** The counts at {@code nowNanos}. */
  public Counts counts(long nowNanos) {
    sweep(nowNanos);
    return new Counts(expected, confirmed, expired, cancelled, dropped);
  }
}
