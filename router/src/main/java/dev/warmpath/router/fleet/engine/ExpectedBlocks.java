package dev.warmpath.router.fleet.engine;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Blocks that one engine does not hold yet but will, because prompts with them were sent to it.
 * They are for choosing only, never for predicting.
 *
 * <p>A block stays expected until the index shows it to the next request with that prefix that
 * comes here (confirmed), until its time is over (expired), until every request that brought it has
 * failed (cancelled), or until room is needed and it is the oldest (dropped); each end is counted.
 * Requests that succeed cut its time to the {@linkplain Limits#settleNanos settling time}, by which
 * events have come.
 *
 * <p>Confined to the dispatcher's lock.
 */
public final class ExpectedBlocks {

  /*
   * Blocks are kept in the order of their last claim, which is also that of their deadlines, except
   * that settling brings some forward. Deadlines are therefore checked where a block is used, and
   * the expired are swept from the oldest end. A block object lives in the map once: a claim that
   * outlives its block's place there changes nothing in it any more.
   */

  /**
   * How many blocks an engine may have and how long they stay.
   *
   * @param blocks the most blocks expected of one engine
   * @param keepNanos how long a block stays after the last request that brought it
   * @param settleNanos how long it stays after these requests have all ended well
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

  /** What one request brings; a block may be in several claims. */
  public static final class Claim {
    private final List<Block> blocks = new ArrayList<>();
  }

  /** How many there are and how the others ended. */
  public record Counts(int expected, long confirmed, long expired, long cancelled, long dropped) {}

  private static final class Block {
    private final long key;
    private int claims;
    private long deadlineNanos;

    Block(long key) {
      this.key = key;
    }
  }

  private final Limits limits;
  private final Map<Long, Block> blocks = new LinkedHashMap<>();
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
    while (depth < chain.blocks() && expects(chain.blockKey(depth), nowNanos)) {
      depth++;
    }
    return depth;
  }

  private boolean expects(long blockKey, long nowNanos) {
    Block block = blocks.get(blockKey);
    return block != null && !over(block, nowNanos);
  }

  private static boolean over(Block block, long nowNanos) {
    return nowNanos - block.deadlineNanos >= 0;
  }

  /**
   * A request with this chain was sent: its first {@code heldBlocks} are confirmed, the others are
   * expected from now on.
   */
  public Claim claim(BlockChain chain, int heldBlocks, long nowNanos) {
    sweep(nowNanos);
    confirm(chain, heldBlocks);
    Claim claim = new Claim();
    for (int i = heldBlocks; i < chain.blocks(); i++) {
      claim.blocks.add(expect(chain.blockKey(i), nowNanos));
    }
    return claim;
  }

  private Block expect(long blockKey, long nowNanos) {
    Block known = blocks.remove(blockKey);
    Block block = known == null ? new Block(blockKey) : known;
    if (blocks.size() >= limits.blocks()) {
      dropOldest();
    }
    block.claims++;
    block.deadlineNanos = nowNanos + limits.keepNanos();
    blocks.put(blockKey, block);
    return block;
  }

  private void dropOldest() {
    Iterator<Block> oldest = blocks.values().iterator();
    oldest.next();
    oldest.remove();
    dropped++;
  }

  private void confirm(BlockChain chain, int heldBlocks) {
    for (int i = 0; i < heldBlocks && !blocks.isEmpty(); i++) {
      if (blocks.remove(chain.blockKey(i)) != null) {
        confirmed++;
      }
    }
  }

  private void sweep(long nowNanos) {
    Iterator<Block> oldest = blocks.values().iterator();
    while (oldest.hasNext() && over(oldest.next(), nowNanos)) {
      oldest.remove();
      expired++;
    }
  }

  /** The request failed: what nobody else brings is not expected any more. Once for each claim. */
  public void cancel(Claim claim) {
    for (Block block : claim.blocks) {
      if (--block.claims == 0 && blocks.remove(block.key, block)) {
        cancelled++;
      }
    }
  }

  /** The request ended well: events about its blocks come now or never. Once for each claim. */
  public void settle(Claim claim, long nowNanos) {
    long settled = nowNanos + limits.settleNanos();
    for (Block block : claim.blocks) {
      if (--block.claims == 0 && settled - block.deadlineNanos < 0) {
        block.deadlineNanos = settled;
      }
    }
  }

  /** The counts at {@code nowNanos}. */
  public Counts counts(long nowNanos) {
    sweep(nowNanos);
    return new Counts(blocks.size(), confirmed, expired, cancelled, dropped);
  }
}
