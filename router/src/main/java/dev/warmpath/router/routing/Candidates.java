package dev.warmpath.router.routing;

import java.util.Arrays;

/**
 * The engines that could serve a request, as they stand at this moment: a row each, from 0 on.
 * Filled anew for each request; nothing is allocated once it is large enough.
 *
 * <p>Confined to one thread.
 */
public final class Candidates {

  /** The {@link #lastTurn} of an engine that was never chosen. */
  public static final long NEVER = -1;

  private static final int ROWS = 16;

  private int count;
  private String[] names = new String[ROWS];
  private int[] creditTokens = new int[ROWS];
  private int[] requests = new int[ROWS];
  private long[] queuedTokens = new long[ROWS];
  private double[] queuedMillis = new double[ROWS];
  private long[] contextTokens = new long[ROWS];
  private PrefillCost[] costs = new PrefillCost[ROWS];
  private long[] lastTurns = new long[ROWS];
  private double[] scores = new double[ROWS];

  /** Removes all rows. */
  public void clear() {
    Arrays.fill(names, 0, count, null);
    count = 0;
  }

  /**
   * Adds a row.
   *
   * @param name names the engine; unique among the candidates and stable over time
   * @param creditTokens prompt tokens that it would most likely not compute again; trust in what is
   *     known of the engine is already worked in, and what is on its way there counts
   * @param load what was sent to it and has not come back
   * @param cost how long it takes for prompts
   * @param lastTurn when it was last chosen: the higher, the later; {@link #NEVER} if never
   */
  public void add(String name, int creditTokens, Load load, PrefillCost cost, long lastTurn) {
    if (creditTokens < 0) {
      throw new IllegalArgumentException("creditTokens=" + creditTokens);
    }
    if (lastTurn < NEVER) {
      throw new IllegalArgumentException("lastTurn=" + lastTurn);
    }
    if (count == names.length) {
      grow();
    }
    names[count] = name;
    this.creditTokens[count] = creditTokens;
    requests[count] = load.requestsInFlight();
    queuedTokens[count] = load.queuedPrefillTokens();
    queuedMillis[count] = load.queuedPrefillMillis();
    contextTokens[count] = load.contextTokens();
    costs[count] = cost;
    lastTurns[count++] = lastTurn;
  }

  private void grow() {
    int rows = 2 * count;
    names = Arrays.copyOf(names, rows);
    creditTokens = Arrays.copyOf(creditTokens, rows);
    requests = Arrays.copyOf(requests, rows);
    queuedTokens = Arrays.copyOf(queuedTokens, rows);
    queuedMillis = Arrays.copyOf(queuedMillis, rows);
    contextTokens = Arrays.copyOf(contextTokens, rows);
    costs = Arrays.copyOf(costs, rows);
    lastTurns = Arrays.copyOf(lastTurns, rows);
    scores = new double[rows];
  }

  /** How many there are. */
  public int count() {
    return count;
  }

  public String name(int row) {
    return names[row];
  }

  public int creditTokens(int row) {
    return creditTokens[row];
  }

  /** Requests from dispatch to last byte. */
  public int requests(int row) {
    return requests[row];
  }

  /** Prompt tokens that it was given and has not computed. */
  public long queuedTokens(int row) {
    return queuedTokens[row];
  }

  /** The time that it will take for these. */
  public double queuedMillis(int row) {
    return queuedMillis[row];
  }

  /** Prompt tokens of the requests in flight, credited or not. */
  public long contextTokens(int row) {
    return contextTokens[row];
  }

  public PrefillCost cost(int row) {
    return costs[row];
  }

  public long lastTurn(int row) {
    return lastTurns[row];
  }

  /** Milliseconds of prefill that {@code request} costs there; 0 if its prompt is not known. */
  public double prefillMillis(RoutingRequest request, int row) {
    if (!request.promptKnown()) {
      return 0;
    }
    int prompt = request.promptTokens();
    return costs[row].millis(prompt - Math.min(creditTokens[row], prompt), prompt);
  }

  /** Room for a score of each row, for who chooses. */
  double[] scores() {
    return scores;
  }
}
