package dev.warmpath.router.fleet.engine;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.Arrays;

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
   * its whole prefix, so one comparison, at `from`, shows whether another chain leads into a claim,
   * and one at any later block whether it runs along it that far; the keys of two of its blocks are
   * columns. No cost grows with the length of
   * a prompt. It does with the number of claims: what every choice looks at stands in columns, in
   * the order in which the claims were made, and those that are over are removed when a
   * quarter as many new ones have come.
   */

  private static final int FEW_CLAIMS = 16;
  private static final int GONE = -1;

  /** Prompts of which the first words are alike often differ within so many blocks. */
  private static final int FURTHER_BLOCKS = 7;

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
    private int row;

    private Claim(int row) {
      this.row = row;
    }
  }

  /** How many there are and how the others ended. */
  public record Counts(int expected, long confirmed, long expired, long cancelled, long dropped) {}

  private final Limits limits;
  private Claim[] claims = new Claim[FEW_CLAIMS];
  private BlockChain[] chains = new BlockChain[FEW_CLAIMS];
  private int[] from = new int[FEW_CLAIMS];
  private int[] to = new int[FEW_CLAIMS];
  private long[] fromKey = new long[FEW_CLAIMS];
  private long[] furtherKey = new long[FEW_CLAIMS];
  private long[] deadlineNanos = new long[FEW_CLAIMS];
  private int rows;
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
      for (int row = 0; row < rows && depth < chain.blocks(); row++) {
        if (from[row] <= depth
            && depth < to[row]
            && mayReach(row, chain, depth)
            && chains[row].blockKey(depth) == chain.blockKey(depth)
            && nowNanos - deadlineNanos[row] < 0) {
          depth = Math.min(to[row], chains[row].sharedBlocks(chain));
        }
      }
    } while (depth > before);
    return depth;
  }

  /** Whether what stands in the columns does not show that {@code chain} runs along less far. */
  private boolean mayReach(int row, BlockChain chain, int depth) {
    int further = further(row);
    return depth < further
        ? fromKey[row] == chain.blockKey(from[row])
        : furtherKey[row] == chain.blockKey(further);
  }

  private int further(int row) {
    return Math.min(to[row] - 1, from[row] + FURTHER_BLOCKS);
  }

  /**
   * A request with this chain was sent: its first {@code heldBlocks} are confirmed, the others are
   * expected from now on, as far as there may be so many.
   */
  public Claim claim(BlockChain chain, int heldBlocks, long nowNanos) {
    confirm(chain, heldBlocks);
    int end = Math.min(chain.blocks(), heldBlocks + limits.blocks());
    dropped += chain.blocks() - end;
    if (rows >= sweepAt || expected + end - heldBlocks > limits.blocks()) {
      sweep(nowNanos);
    }
    Claim claim = add(chain, heldBlocks, end, nowNanos + limits.keepNanos());
    if (expected > limits.blocks()) {
      dropOldest();
    }
    return claim;
  }

  private Claim add(BlockChain chain, int begin, int end, long deadline) {
    Claim claim = new Claim(rows);
    if (rows == claims.length) {
      grow(2 * rows);
    }
    claims[rows] = claim;
    chains[rows] = chain;
    to[rows] = end;
    deadlineNanos[rows] = deadline;
    begin(rows, begin);
    expected += end - begin;
    rows++;
    return claim;
  }

  private void grow(int length) {
    claims = Arrays.copyOf(claims, length);
    chains = Arrays.copyOf(chains, length);
    from = Arrays.copyOf(from, length);
    to = Arrays.copyOf(to, length);
    fromKey = Arrays.copyOf(fromKey, length);
    furtherKey = Arrays.copyOf(furtherKey, length);
    deadlineNanos = Arrays.copyOf(deadlineNanos, length);
  }

  private void begin(int row, int block) {
    from[row] = block;
    if (block < to[row]) {
      fromKey[row] = chains[row].blockKey(block);
      furtherKey[row] = chains[row].blockKey(further(row));
    }
  }

  private void confirm(BlockChain chain, int heldBlocks) {
    for (int row = 0; row < rows; row++) {
      if (from[row] < Math.min(heldBlocks, to[row]) && fromKey[row] == chain.blockKey(from[row])) {
        int shared = Math.min(to[row], chains[row].sharedBlocks(chain));
        int shown = Math.min(heldBlocks, shared) - from[row];
        confirmed += shown;
        expected -= shown;
        begin(row, from[row] + shown);
      }
    }
  }

  private void dropOldest() {
    for (int row = 0; expected > limits.blocks(); row++) {
      dropped += take(row);
    }
    compact();
  }

  private void sweep(long nowNanos) {
    for (int row = 0; row < rows; row++) {
      expired += nowNanos - deadlineNanos[row] >= 0 ? take(row) : 0;
    }
    compact();
  }

  /** The claim stands no more; returns of how many blocks it was. */
  private int take(int row) {
    int blocks = to[row] - from[row];
    from[row] = to[row];
    expected -= blocks;
    return blocks;
  }

  /** Removes those that are over. */
  private void compact() {
    int kept = 0;
    for (int row = 0; row < rows; row++) {
      if (from[row] < to[row]) {
        move(row, kept++);
      } else {
        claims[row].row = GONE;
      }
    }
    Arrays.fill(claims, kept, rows, null);
    Arrays.fill(chains, kept, rows, null);
    rows = kept;
    sweepAt = rows + Math.max(FEW_CLAIMS, rows / 4);
  }

  private void move(int row, int there) {
    claims[there] = claims[row];
    claims[there].row = there;
    chains[there] = chains[row];
    from[there] = from[row];
    to[there] = to[row];
    fromKey[there] = fromKey[row];
    furtherKey[there] = furtherKey[row];
    deadlineNanos[there] = deadlineNanos[row];
  }

  /** The request failed: its blocks are not expected any more. */
  public void cancel(Claim claim) {
    if (claim.row != GONE) {
      cancelled += take(claim.row);
    }
  }

  /** The request ended well: events about its blocks come now or never. */
  public void settle(Claim claim, long nowNanos) {
    if (claim.row != GONE) {
      long settled = nowNanos + limits.settleNanos();
      deadlineNanos[claim.row] =
          settled - deadlineNanos[claim.row] < 0 ? settled : deadlineNanos[claim.row];
    }
  }

  /** The counts at {@code nowNanos}. */
  public Counts counts(long nowNanos) {
    sweep(nowNanos);
    return new Counts(expected, confirmed, expired, cancelled, dropped);
  }
}
