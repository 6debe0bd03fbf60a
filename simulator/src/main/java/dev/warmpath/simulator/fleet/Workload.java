package dev.warmpath.simulator.fleet;

import dev.warmpath.simulator.engine.BlockNames;
import dev.warmpath.simulator.trace.Trace;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A trace as it is played: how fast, how often side by side, and from where on.
 *
 * <p>Request {@code c·n + i} is the trace's request i in copy c. Copies are clients of their own:
 * their prompts share only what most of the trace's prompts begin with. Each copy begins at a
 * random place of the trace, goes on from its beginning when it is over, and ends where it began.
 * Only arrivals are faster at a higher rate: thinking takes its time.
 *
 * <p>Immutable.
 */
public final class Workload {

  private static final double UNIT = 0x1p-53;

  /** What at least one in so many first prompts begins with is common to all copies. */
  private static final int COMMON = 50;

  private final Trace trace;
  private final int copies;
  private final double rate;
  private final long seed;
  private final double spreadSeconds;
  private final double spanSeconds;
  private final double[] startSeconds;
  private final int[] next;
  private final BitSet common;

  /**
   * @param rate how many times as fast requests arrive
   * @param copies how many clients play the trace at once
   * @param seed of the places where they begin, and of how arrivals are spread
   */
  public Workload(Trace trace, double rate, int copies, long seed) {
    this(trace, rate, copies, seed, 0);
  }

  /**
   * One whose trace tells times roughly.
   *
   * @param spreadSeconds of the trace's time: each arrival is later by a random part of it
   */
  public Workload(Trace trace, double rate, int copies, long seed, double spreadSeconds) {
    if (!(rate > 0 && rate < 1e9)) {
      throw new IllegalArgumentException("rate=" + rate);
    }
    if (copies < 1 || (long) copies * trace.requests() > Integer.MAX_VALUE / 2) {
      throw new IllegalArgumentException("copies=" + copies);
    }
    this.trace = trace;
    this.copies = copies;
    this.rate = rate;
    this.seed = seed;
    this.spreadSeconds = spreadSeconds;
    SplittableRandom random = new SplittableRandom(seed);
    spanSeconds = trace.spanSeconds();
    startSeconds = new double[copies];
    Arrays.setAll(startSeconds, copy -> random.nextDouble() * spanSeconds);
    next = new int[trace.requests()];
    Arrays.fill(next, Trace.NONE);
    for (int i = 0; i < next.length; i++) {
      if (trace.after(i) != Trace.NONE) {
        next[trace.after(i)] = i;
      }
    }
    common = common(trace);
  }

  /** Which block numbers are common to all copies. */
  private static BitSet common(Trace trace) {
    Map<Integer, Integer> prompts = new HashMap<>();
    int first = 0;
    for (int i = 0; i < trace.requests(); i++) {
      if (trace.after(i) != Trace.NONE) {
        continue;
      }
      first++;
      for (int number : trace.blockNumbers(i)) {
        prompts.merge(number, 1, Integer::sum);
      }
    }
    BitSet common = new BitSet();
    int needed = Math.max(2, first / COMMON);
    prompts.forEach((number, count) -> common.set(number, count >= needed));
    return common;
  }

  public Trace trace() {
    return trace;
  }

  /** Requests of all copies. */
  public int requests() {
    return copies * trace.requests();
  }

  /** Its number in the trace. */
  int row(int request) {
    return request % trace.requests();
  }

  /** Whether it waits for no other. */
  boolean isFirst(int request) {
    return trace.after(row(request)) == Trace.NONE;
  }

  /** The seconds after which it arrives, if it waits for no other. */
  double arrivalSeconds(int request) {
    double since = trace.seconds(row(request)) - startSeconds[request / trace.requests()];
    return ((since < 0 ? since + spanSeconds : since) + spread(request)) / rate;
  }

  private double spread(int request) {
    return spreadSeconds * UNIT * (mixed(mixed(request) + seed) >>> 11);
  }

  /** The request that waits for this one, or {@link Trace#NONE}. */
  public int next(int request) {
    int row = next[row(request)];
    return row == Trace.NONE ? row : request - row(request) + row;
  }

  /** The seconds from the answer of the one before until it arrives. */
  double thinkSeconds(int request) {
    return trace.seconds(row(request));
  }

  int promptTokens(int request) {
    return trace.promptTokens(row(request));
  }

  int answerTokens(int request) {
    return trace.answerTokens(row(request));
  }

  /** Whose it is, or null if the trace does not tell. */
  @org.jspecify.annotations.Nullable
  String session(int request) {
    int session = trace.session(row(request));
    return session == Trace.NONE ? null : request / trace.requests() + "-" + session;
  }

  /**
   * The names of the full blocks of a request; those that the trace does not name, an answer's
   * above all, are its own.
   */
  public BlockNames names(int request) {
    long[] names = blockNames(request);
    return block -> block < names.length ? names[block] : ownName(request, block);
  }

  /** The name of a block that no other request has. */
  static long ownName(int request, int block) {
    return mixed(-((long) request << 24) - block - 2);
  }

  /** The names of the prompt's full blocks; equal ones have equal prefixes. */
  long[] blockNames(int request) {
    int[] numbers = trace.blockNumbers(row(request));
    long copy = (long) (request / trace.requests()) << 32;
    long[] names = new long[numbers.length];
    for (int i = 0; i < names.length; i++) {
      int number = numbers[i];
      names[i] = mixed(common.get(number) ? number : copy | number);
    }
    return names;
  }

  /** The requests that wait for no other, in the order in which they arrive. */
  public int[] firsts() {
    return IntStream.range(0, requests())
        .filter(this::isFirst)
        .boxed()
        .sorted(Comparator.comparingDouble(this::arrivalSeconds))
        .mapToInt(request -> request)
        .toArray();
  }

  /** SplitMix64's finalizer: names are as even as real hashes. */
  static long mixed(long number) {
    long mixed = (number + 1) * 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
