package dev.warmpath.simulator.trace;

/**
 * The requests of a workload, in columns. A prompt is known by the numbers of its full blocks:
 * equal numbers stand for equal blocks behind equal prefixes. They are kept as runs of consecutive
 * numbers.
 *
 * <p>Immutable.
 */
public final class Trace {

  /** The {@link #after} of a request that waits for no other. */
  public static final int NONE = -1;

  private final String name;
  private final int blockSizeTokens;
  private final int requests;
  private final Columns columns;

  /** The columns of a trace; rows count from 0. */
  static final class Columns {
    double[] seconds = new double[64];
    int[] after = new int[64];
    int[] session = new int[64];
    int[] promptTokens = new int[64];
    int[] answerTokens = new int[64];
    int[] runsFrom = new int[65];
    int[] runFirst = new int[64];
    int[] runBlocks = new int[64];
  }

  Trace(String name, int blockSizeTokens, int requests, Columns columns) {
    this.name = name;
    this.blockSizeTokens = blockSizeTokens;
    this.requests = requests;
    this.columns = columns;
  }

  public String name() {
    return name;
  }

  /** Tokens a block. */
  public int blockSizeTokens() {
    return blockSizeTokens;
  }

  public int requests() {
    return requests;
  }

  /**
   * When the request arrives, in seconds: since the trace began if it waits for no other, else
   * since that one was answered.
   */
  public double seconds(int request) {
    return columns.seconds[request];
  }

  /** The earlier request whose answer comes first, or {@link #NONE}. */
  public int after(int request) {
    return columns.after[request];
  }

  /** Whose request it is, from 0 on; {@link #NONE} if the trace does not tell. */
  public int session(int request) {
    return columns.session[request];
  }

  public int promptTokens(int request) {
    return columns.promptTokens[request];
  }

  /** At least 1. */
  public int answerTokens(int request) {
    return columns.answerTokens[request];
  }

  /** Full blocks of the prompt of which the content is known. */
  public int blocks(int request) {
    int blocks = 0;
    for (int run = columns.runsFrom[request]; run < columns.runsFrom[request + 1]; run++) {
      blocks += columns.runBlocks[run];
    }
    return blocks;
  }

  /** The numbers of the prompt's full blocks, in order. */
  public int[] blockNumbers(int request) {
    int[] numbers = new int[blocks(request)];
    int at = 0;
    for (int run = columns.runsFrom[request]; run < columns.runsFrom[request + 1]; run++) {
      for (int i = 0; i < columns.runBlocks[run]; i++) {
        numbers[at++] = columns.runFirst[run] + i;
      }
    }
    return numbers;
  }

  /** The seconds in which the requests arrive that wait for no other. */
  public double spanSeconds() {
    double last = 0;
    for (int i = 0; i < requests; i++) {
      last = after(i) == NONE ? Math.max(last, seconds(i)) : last;
    }
    return last;
  }

  @Override
  public String toString() {
    return name;
  }
}
