package dev.warmpath.simulator.trace;

import java.util.Arrays;
import java.util.BitSet;

/**
 * Collects the requests of a trace.
 *
 * <p>Single writer.
 */
public final class TraceBuilder {

  /** Most tokens of a prompt. */
  public static final int MOST_TOKENS = 1 << 24;

  private final String name;
  private final int blockSizeTokens;
  private final Trace.Columns columns = new Trace.Columns();
  private final BitSet followed = new BitSet();
  private int requests;
  private int runs;
  private int blocks;

  public TraceBuilder(String name, int blockSizeTokens) {
    if (blockSizeTokens < 1) {
      throw new IllegalArgumentException("blockSizeTokens=" + blockSizeTokens);
    }
    this.name = name;
    this.blockSizeTokens = blockSizeTokens;
  }

  /** How many there are: the number of the next one. */
  public int requests() {
    return requests;
  }

  /**
   * Begins a request; its blocks follow.
   *
   * @param seconds when it arrives: since the trace began, or since {@code after} was answered
   * @param after an earlier request that no other waits for, or {@link Trace#NONE}
   */
  public TraceBuilder request(
      double seconds, int after, int session, int promptTokens, int answerTokens) {
    if (!(seconds >= 0 && seconds < 1e9)) {
      throw new IllegalArgumentException("seconds=" + seconds);
    }
    if (after < Trace.NONE || after >= requests) {
      throw new IllegalArgumentException("after=" + after);
    }
    if (after != Trace.NONE && followed.get(after)) {
      throw new IllegalArgumentException("after=" + after + ", as another request");
    }
    if (promptTokens < 1 || promptTokens > MOST_TOKENS) {
      throw new IllegalArgumentException("promptTokens=" + promptTokens);
    }
    if (requests == columns.seconds.length) {
      grow(2 * requests);
    }
    if (after != Trace.NONE) {
      followed.set(after);
    }
    columns.seconds[requests] = seconds;
    columns.after[requests] = after;
    columns.session[requests] = session;
    columns.promptTokens[requests] = promptTokens;
    columns.answerTokens[requests] = Math.max(1, answerTokens);
    columns.runsFrom[requests + 1] = runs;
    requests++;
    blocks = 0;
    return this;
  }

  private void grow(int rows) {
    columns.seconds = Arrays.copyOf(columns.seconds, rows);
    columns.after = Arrays.copyOf(columns.after, rows);
    columns.session = Arrays.copyOf(columns.session, rows);
    columns.promptTokens = Arrays.copyOf(columns.promptTokens, rows);
    columns.answerTokens = Arrays.copyOf(columns.answerTokens, rows);
    columns.runsFrom = Arrays.copyOf(columns.runsFrom, rows + 1);
  }

  /** The next {@code count} blocks of the prompt are numbered from {@code first} on. */
  public TraceBuilder blocks(int first, int count) {
    int row = requests - 1;
    int room = columns.promptTokens[row] / blockSizeTokens - blocks;
    int added = Math.min(count, room);
    if (first < 0 || count < 0) {
      throw new IllegalArgumentException("first=" + first + " count=" + count);
    }
    if (added == 0) {
      return this;
    }
    boolean goesOn =
        runs > columns.runsFrom[row]
            && columns.runFirst[runs - 1] + columns.runBlocks[runs - 1] == first;
    if (goesOn) {
      columns.runBlocks[runs - 1] += added;
    } else {
      if (runs == columns.runFirst.length) {
        columns.runFirst = Arrays.copyOf(columns.runFirst, 2 * runs);
        columns.runBlocks = Arrays.copyOf(columns.runBlocks, 2 * runs);
      }
      columns.runFirst[runs] = first;
      columns.runBlocks[runs++] = added;
      columns.runsFrom[row + 1] = runs;
    }
    blocks += added;
    return this;
  }

  /** Blocks of an earlier request of which the content is known. */
  public int blocks(int request) {
    int sum = 0;
    for (int run = columns.runsFrom[request]; run < columns.runsFrom[request + 1]; run++) {
      sum += columns.runBlocks[run];
    }
    return sum;
  }

  /** The prompt goes on with the first {@code count} blocks of an earlier request's. */
  public TraceBuilder blocksOf(int request, int count) {
    int left = count;
    int end = columns.runsFrom[request + 1];
    for (int run = columns.runsFrom[request]; run < end && left > 0; run++) {
      int taken = Math.min(left, columns.runBlocks[run]);
      blocks(columns.runFirst[run], taken);
      left -= taken;
    }
    if (left > 0) {
      throw new IllegalArgumentException("blocks=" + count + " of request " + request);
    }
    return this;
  }

  /** The trace of what was added. */
  public Trace build() {
    return new Trace(name, blockSizeTokens, requests, columns);
  }
}
