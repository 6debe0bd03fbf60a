package dev.warmpath.router.fleet;

import dev.warmpath.kvindex.block.BlockChain;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The blocks that are expected of one engine: a row a request, in the order of the requests.
 *
 * <p>Confined to its engine's lock.
 */
final class ClaimTable {

  /*
   * A row has a request's chain and the part [from, to) of it that is expected. A block key names
   * its whole prefix, so one comparison, at `from`, shows whether another chain leads into a claim,
   * and one at any later block whether it runs along it that far; the keys of two of its blocks are
   * columns. No cost grows with the length of a prompt. It does with the number of claims: what
   * every choice looks at stands in columns. A row of another router's request has marks in place of
   * a chain: its columns have the key and the place of the first of them.
   */

  private static final int FIRST_ROWS = 16;
  private static final int GONE = -1;

  /** Prompts of which the first words are alike often differ within so many blocks. */
  private static final int FURTHER_BLOCKS = 7;

  /** What one request brings. */
  static final class Claim {
    private int row;

    private Claim(int row) {
      this.row = row;
    }
  }

  private Claim[] claims = new Claim[FIRST_ROWS];
  private @Nullable BlockChain[] chains = new @Nullable BlockChain[FIRST_ROWS];
  private @Nullable PromptMarks[] marks = new @Nullable PromptMarks[FIRST_ROWS];
  private int[] from = new int[FIRST_ROWS];
  private int[] to = new int[FIRST_ROWS];
  private long[] fromKey = new long[FIRST_ROWS];
  private long[] furtherKey = new long[FIRST_ROWS];
  private long[] deadlineNanos = new long[FIRST_ROWS];
  private int rows;

  /** Claims, those that are over included until they are {@linkplain #compact removed}. */
  int rows() {
    return rows;
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
            && reaches(row, chain, depth)
            && nowNanos - deadlineNanos[row] < 0) {
          depth = Math.min(to[row], sharedBlocks(row, chain));
        }
      }
    } while (depth > before);
    return depth;
  }

  /** Whether {@code chain} runs along at block {@code depth} too, as far as that is known. */
  private boolean reaches(int row, BlockChain chain, int depth) {
    BlockChain own = chains[row];
    return own == null
        ? isAlong(row, chain) && sharedBlocks(row, chain) > depth
        : mayReach(row, chain, depth) && own.blockKey(depth) == chain.blockKey(depth);
  }

  /** Whether {@code chain} has the first mark; most prompts have not. */
  private boolean isAlong(int row, BlockChain chain) {
    int mark = (int) furtherKey[row];
    return mark < chain.blocks() && fromKey[row] == chain.blockKey(mark);
  }

  private int sharedBlocks(int row, BlockChain chain) {
    BlockChain own = chains[row];
    return own == null
        ? Objects.requireNonNull(marks[row]).sharedBlocks(chain)
        : own.sharedBlocks(chain);
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

  /** The blocks from {@code begin} to {@code end} of a chain are expected until a deadline. */
  Claim add(BlockChain chain, int begin, int end, long deadline) {
    return add(chain, null, begin, end, deadline);
  }

  /** The same of a prompt that only its marks are known of. */
  Claim add(PromptMarks prompt, int begin, int end, long deadline) {
    return add(null, prompt, begin, end, deadline);
  }

  private Claim add(
      @Nullable BlockChain chain, @Nullable PromptMarks prompt, int begin, int end, long deadline) {
    Claim claim = new Claim(rows);
    if (rows == claims.length) {
      grow(2 * rows);
    }
    claims[rows] = claim;
    chains[rows] = chain;
    marks[rows] = prompt;
    to[rows] = end;
    deadlineNanos[rows] = deadline;
    begin(rows, begin);
    rows++;
    return claim;
  }

  private void grow(int length) {
    claims = Arrays.copyOf(claims, length);
    chains = Arrays.copyOf(chains, length);
    marks = Arrays.copyOf(marks, length);
    from = Arrays.copyOf(from, length);
    to = Arrays.copyOf(to, length);
    fromKey = Arrays.copyOf(fromKey, length);
    furtherKey = Arrays.copyOf(furtherKey, length);
    deadlineNanos = Arrays.copyOf(deadlineNanos, length);
  }

  private void begin(int row, int block) {
    from[row] = block;
    PromptMarks prompt = marks[row];
    if (prompt != null) {
      fromKey[row] = prompt.key(0);
      furtherKey[row] = prompt.at(0);
    }
    BlockChain own = chains[row];
    if (own != null && block < to[row]) {
      fromKey[row] = own.blockKey(block);
      furtherKey[row] = own.blockKey(further(row));
    }
  }

  /** Takes the first blocks of a chain out of all claims; returns how many there were. */
  int confirm(BlockChain chain, int heldBlocks) {
    int confirmed = 0;
    for (int row = 0; row < rows; row++) {
      if (from[row] < Math.min(heldBlocks, to[row]) && begins(row, chain)) {
        int shared = Math.min(to[row], sharedBlocks(row, chain));
        int shown = Math.min(heldBlocks, shared) - from[row];
        confirmed += shown;
        begin(row, from[row] + shown);
      }
    }
    return confirmed;
  }

  /** Whether {@code chain} has the first block that is expected. */
  private boolean begins(int row, BlockChain chain) {
    return chains[row] == null
        ? isAlong(row, chain) && sharedBlocks(row, chain) > from[row]
        : fromKey[row] == chain.blockKey(from[row]);
  }

  /** Ends the claims whose time is over; returns of how many blocks they were. */
  int expire(long nowNanos) {
    int expired = 0;
    for (int row = 0; row < rows; row++) {
      expired += nowNanos - deadlineNanos[row] >= 0 ? end(row) : 0;
    }
    return expired;
  }

  /** Ends the oldest claims, of so many blocks at least; returns of how many they were. */
  int endOldest(int blocks) {
    int ended = 0;
    for (int row = 0; ended < blocks; row++) {
      ended += end(row);
    }
    return ended;
  }

  /** Ends a claim; returns of how many blocks it was. */
  int end(Claim claim) {
    return claim.row == GONE ? 0 : end(claim.row);
  }

  private int end(int row) {
    int blocks = to[row] - from[row];
    from[row] = to[row];
    return blocks;
  }

  /** A claim ends at this time at the latest. */
  void endBy(Claim claim, long nanos) {
    if (claim.row != GONE && nanos - deadlineNanos[claim.row] < 0) {
      deadlineNanos[claim.row] = nanos;
    }
  }

  /** Removes those that are over. */
  void compact() {
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
    Arrays.fill(marks, kept, rows, null);
    rows = kept;
  }

  private void move(int row, int there) {
    claims[there] = claims[row];
    claims[there].row = there;
    chains[there] = chains[row];
    marks[there] = marks[row];
    from[there] = from[row];
    to[there] = to[row];
    fromKey[there] = fromKey[row];
    furtherKey[there] = furtherKey[row];
    deadlineNanos[there] = deadlineNanos[row];
  }
}
