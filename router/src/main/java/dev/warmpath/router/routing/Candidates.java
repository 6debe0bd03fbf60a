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

  /** The {@link #heldTokens} of an engine of which nobody knows. */
  public static final long UNKNOWN = -1;

  private static final int ROWS = 16;
  private static final int MOST_WAITING = 255;

  /** Stands for the length of a prompt that somebody else sent. */
  private static final int OTHER_PROMPT_TOKENS = 1_024;

  private int count;
  private long mostContextTokens;
  private String[] names = new String[ROWS];
  private int[] numbers = new int[ROWS];
  private int[] creditTokens = new int[ROWS];
  private int[] hostTokens = new int[ROWS];
  private int[] diskTokens = new int[ROWS];
  private double[] loadMillis = new double[ROWS];
  private int[] requests = new int[ROWS];
  private int[] waiting = new int[ROWS];
  private long[] queuedTokens = new long[ROWS];
  private double[] prefillBacklogMillis = new double[ROWS];
  private long[] contextTokens = new long[ROWS];
  private double[] answerMillis = new double[ROWS];
  private double[] prefillsOfOthers = new double[ROWS];
  private long[] capacityTokens = new long[ROWS];
  private long[] heldTokens = new long[ROWS];
  private boolean[] keepsEvicted = new boolean[ROWS];
  private double[] weights = new double[ROWS];
  private PrefillCost[] costs = new PrefillCost[ROWS];
  private DecodeCost[] decodeCosts = new DecodeCost[ROWS];
  private long[] lastTurns = new long[ROWS];
  private double[] scores = new double[ROWS];
  private final int[] byWaiting = new int[MOST_WAITING + 1];

  /** Removes all rows. */
  public void clear() {
    Arrays.fill(names, 0, count, null);
    count = 0;
    mostContextTokens = 0;
  }

  /**
   * Adds a row: an idle engine that holds nothing of the prompt and has the weight 1 and an unknown
   * capacity, unless the methods below say otherwise of the row added last.
   *
   * @param name names the engine; unique among the candidates and stable over time
   * @param number stands for the engine in what a policy remembers: counts from 0 and is never
   *     given to another engine
   * @param cost how long it takes for prompts
   * @param lastTurn when it was last chosen: the higher, the later; {@link #NEVER} if never
   */
  public Candidates add(String name, int number, PrefillCost cost, long lastTurn) {
    require(number >= 0, "number", number);
    require(lastTurn >= NEVER, "lastTurn", lastTurn);
    if (count == names.length) {
      grow();
    }
    names[count] = name;
    numbers[count] = number;
    costs[count] = cost;
    lastTurns[count++] = lastTurn;
    price(count - 1, 0, 0);
    decodeCosts[count - 1] = DecodeCost.DEFAULT;
    return cached(0, 0, 0)
        .load(0, 0, 0, 0, 0)
        .capacity(0)
        .holding(UNKNOWN)
        .keepingEvicted(false)
        .weighing(1);
  }

  /**
   * What the engine added last holds of the prompt. Trust in what is known of the engine is already
   * worked in, and what is on its way there counts.
   *
   * @param tokens prompt tokens that it would most likely not compute again
   * @param host those of them that only its CPU memory holds
   * @param disk those of them that only its disk holds
   */
  public Candidates cached(int tokens, int host, int disk) {
    require(tokens >= 0, "creditTokens", tokens);
    require(host >= 0 && disk >= 0 && (long) host + disk <= tokens, "hostTokens", host);
    creditTokens[count - 1] = tokens;
    hostTokens[count - 1] = host;
    diskTokens[count - 1] = disk;
    loadMillis[count - 1] = 0;
    return this;
  }

  /** To read {@code host} and {@code disk} back costs so much at the engine added last. */
  public Candidates loading(double millis) {
    loadMillis[count - 1] = millis;
    return this;
  }

  /**
   * A row's engine gets more of the prompt from another one.
   *
   * @param tokens prompt tokens that it would not compute then
   * @param millis what it costs to load all that is loaded
   */
  public void pull(int row, int tokens, double millis) {
    require(tokens >= creditTokens[row], "tokens", tokens);
    creditTokens[row] = tokens;
    loadMillis[row] = millis;
  }

  /** What was sent to the engine added last and has not come back. */
  public Candidates load(Load load) {
    return load(
        load.requestsInFlight(),
        load.requestsWaiting(),
        load.queuedPrefillTokens(),
        load.queuedPrefillMillis(),
        load.contextTokens());
  }

  /** The same, as the parts of a {@link Load}. */
  public Candidates load(
      int inFlight, int notComputed, long queued, double backlogMillis, long context) {
    int row = count - 1;
    requests[row] = inFlight;
    waiting[row] = notComputed;
    queuedTokens[row] = queued;
    prefillBacklogMillis[row] = backlogMillis;
    contextTokens[row] = context;
    mostContextTokens = Math.max(mostContextTokens, context);
    return this;
  }

  /** How long the steps of the engine added last take while it decodes. */
  public Candidates decoding(DecodeCost cost) {
    decodeCosts[count - 1] = cost;
    return this;
  }

  /** For how many tokens the GPU of the engine added last has room; 0 if it does not say. */
  public Candidates capacity(long tokens) {
    require(tokens >= 0, "capacityTokens", tokens);
    capacityTokens[count - 1] = tokens;
    return this;
  }

  /**
   * How many tokens the GPU of the engine added last holds for prompts to come, whoever sent them;
   * {@link #UNKNOWN} if nobody knows.
   */
  public Candidates holding(long tokens) {
    require(tokens >= UNKNOWN, "heldTokens", tokens);
    heldTokens[count - 1] = tokens;
    return this;
  }

  /** Whether the engine added last finds in slower memory what its GPU evicts. */
  public Candidates keepingEvicted(boolean keeps) {
    keepsEvicted[count - 1] = keeps;
    return this;
  }

  /**
   * What the engine added last does for others, besides what was sent there from here. Their
   * prompts are not known, so each counts as one of 1,024 tokens of which nothing is cached; what
   * they have in the KV cache follows from how full that is.
   *
   * @param running requests that it computes for others
   * @param queued requests of others in its queue
   * @param kvUse the part of its KV cache that all running requests use; 0 if it does not say
   */
  public Candidates others(int running, int queued, double kvUse) {
    require(running >= 0 && queued >= 0, "running", running);
    int row = count - 1;
    requests[row] += running + queued;
    waiting[row] += queued;
    queuedTokens[row] += (long) queued * OTHER_PROMPT_TOKENS;
    prefillBacklogMillis[row] +=
        queued * costs[row].millis(OTHER_PROMPT_TOKENS, OTHER_PROMPT_TOKENS);
    long assumed = contextTokens[row] + (long) (running + queued) * OTHER_PROMPT_TOKENS;
    long used = (long) (kvUse * capacityTokens[row]);
    contextTokens[row] = used > 0 ? Math.max(contextTokens[row], used) : assumed;
    mostContextTokens = Math.max(mostContextTokens, contextTokens[row]);
    return this;
  }

  /** How much the engine added last should carry, relative to the others; above 0. */
  public Candidates weighing(double weight) {
    if (!(weight > 0 && weight < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("weight=" + weight);
    }
    weights[count - 1] = weight;
    return this;
  }

  private static void require(boolean valid, String name, long value) {
    if (!valid) {
      throw new IllegalArgumentException(name + "=" + value);
    }
  }

  /** Adds a row as it is among other candidates. */
  public void add(Candidates from, int row) {
    add(from.names[row], from.numbers[row], from.costs[row], from.lastTurns[row]);
    cached(from.creditTokens[row], from.hostTokens[row], from.diskTokens[row]);
    loading(from.loadMillis[row]);
    load(
        from.requests[row],
        from.waiting[row],
        from.queuedTokens[row],
        from.prefillBacklogMillis[row],
        from.contextTokens[row]);
    price(count - 1, from.answerMillis[row], from.prefillsOfOthers[row]);
    capacity(from.capacityTokens[row]).weighing(from.weights[row]);
    decodeCosts[count - 1] = from.decodeCosts[row];
    holding(from.heldTokens[row]).keepingEvicted(from.keepsEvicted[row]);
  }

  /** What a row does not hold costs so much there, instead of being computed. */
  public void cost(int row, PrefillCost cost) {
    costs[row] = cost;
  }

  /**
   * Prices what a request does to others at a row's engine; nothing unless said.
   *
   * @param answer what its answer costs there, in milliseconds
   * @param prefills how many times its prefill's time is paid by others
   */
  public void price(int row, double answer, double prefills) {
    answerMillis[row] = answer;
    prefillsOfOthers[row] = prefills;
  }

  /** Overwrites a row with another, which comes no earlier; the rest stays. */
  public void move(int from, int to) {
    if (from == to) {
      return;
    }
    names[to] = names[from];
    numbers[to] = numbers[from];
    creditTokens[to] = creditTokens[from];
    hostTokens[to] = hostTokens[from];
    diskTokens[to] = diskTokens[from];
    loadMillis[to] = loadMillis[from];
    requests[to] = requests[from];
    waiting[to] = waiting[from];
    queuedTokens[to] = queuedTokens[from];
    prefillBacklogMillis[to] = prefillBacklogMillis[from];
    contextTokens[to] = contextTokens[from];
    answerMillis[to] = answerMillis[from];
    prefillsOfOthers[to] = prefillsOfOthers[from];
    capacityTokens[to] = capacityTokens[from];
    heldTokens[to] = heldTokens[from];
    keepsEvicted[to] = keepsEvicted[from];
    weights[to] = weights[from];
    costs[to] = costs[from];
    decodeCosts[to] = decodeCosts[from];
    lastTurns[to] = lastTurns[from];
  }

  /** Removes all rows but the first {@code kept}. */
  public void truncate(int kept) {
    if (kept == count) {
      return;
    }
    Arrays.fill(names, kept, count, null);
    count = kept;
    mostContextTokens = 0;
    for (int row = 0; row < kept; row++) {
      mostContextTokens = Math.max(mostContextTokens, contextTokens[row]);
    }
  }

  private void grow() {
    int rows = 2 * count;
    names = Arrays.copyOf(names, rows);
    numbers = Arrays.copyOf(numbers, rows);
    creditTokens = Arrays.copyOf(creditTokens, rows);
    hostTokens = Arrays.copyOf(hostTokens, rows);
    diskTokens = Arrays.copyOf(diskTokens, rows);
    loadMillis = Arrays.copyOf(loadMillis, rows);
    requests = Arrays.copyOf(requests, rows);
    waiting = Arrays.copyOf(waiting, rows);
    queuedTokens = Arrays.copyOf(queuedTokens, rows);
    prefillBacklogMillis = Arrays.copyOf(prefillBacklogMillis, rows);
    contextTokens = Arrays.copyOf(contextTokens, rows);
    answerMillis = Arrays.copyOf(answerMillis, rows);
    prefillsOfOthers = Arrays.copyOf(prefillsOfOthers, rows);
    capacityTokens = Arrays.copyOf(capacityTokens, rows);
    heldTokens = Arrays.copyOf(heldTokens, rows);
    keepsEvicted = Arrays.copyOf(keepsEvicted, rows);
    weights = Arrays.copyOf(weights, rows);
    costs = Arrays.copyOf(costs, rows);
    decodeCosts = Arrays.copyOf(decodeCosts, rows);
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

  /** Stands for the engine in what a policy remembers. */
  public int number(int row) {
    return numbers[row];
  }

  /** Prompt tokens that it would most likely not compute again, wherever they come from. */
  public int creditTokens(int row) {
    return creditTokens[row];
  }

  /** Those of the {@link #creditTokens} that only its CPU memory holds. */
  public int hostTokens(int row) {
    return hostTokens[row];
  }

  /** Those of the {@link #creditTokens} that only its disk holds. */
  public int diskTokens(int row) {
    return diskTokens[row];
  }

  /** What it costs to load what is not on its GPU, in milliseconds. */
  public double loadMillis(int row) {
    return loadMillis[row];
  }

  /** Requests from dispatch to last byte. */
  public int requests(int row) {
    return requests[row];
  }

  /** Requests whose prompts are not computed yet. */
  public int waiting(int row) {
    return waiting[row];
  }

  /** Requests whose prompts are computed and whose answers are not complete. */
  public int running(int row) {
    return requests[row] - waiting[row];
  }

  /** Prompt tokens that it was given and has not computed. */
  public long queuedTokens(int row) {
    return queuedTokens[row];
  }

  /** The time that it will take for these. */
  public double prefillBacklogMillis(int row) {
    return prefillBacklogMillis[row];
  }

  /** Prompt tokens of the requests in flight, credited or not. */
  public long contextTokens(int row) {
    return contextTokens[row];
  }

  /** What an answer costs there, in milliseconds; 0 where that makes no difference. */
  public double answerMillis(int row) {
    return answerMillis[row];
  }

  /** How many times a prefill's time is paid by others there; 0 where nobody says. */
  public double prefillsOfOthers(int row) {
    return prefillsOfOthers[row];
  }

  /** For how many tokens its GPU has room; 0 if it does not say. */
  public long capacityTokens(int row) {
    return capacityTokens[row];
  }

  /** How many tokens its GPU holds for prompts to come; {@link #UNKNOWN} if nobody knows. */
  public long heldTokens(int row) {
    return heldTokens[row];
  }

  /** Whether it finds in slower memory what its GPU evicts. */
  public boolean keepsEvicted(int row) {
    return keepsEvicted[row];
  }

  /**
   * The part of its KV cache that requests in flight use, 0 to 1: their prompt tokens by its
   * capacity, or, where that is not known, by the most prompt tokens that a candidate has in
   * flight.
   */
  public double kvUse(int row) {
    long whole = capacityTokens[row] > 0 ? capacityTokens[row] : mostContextTokens;
    return contextTokens[row] == 0 ? 0 : Math.min(1, (double) contextTokens[row] / whole);
  }

  /** How much it should carry, relative to the others. */
  public double weight(int row) {
    return weights[row];
  }

  public PrefillCost cost(int row) {
    return costs[row];
  }

  /** How long its steps take while it decodes. */
  public DecodeCost decodeCost(int row) {
    return decodeCosts[row];
  }

  public long lastTurn(int row) {
    return lastTurns[row];
  }

  /** Tokens of {@code request} that it need not compute: of the credit what the prompt has. */
  public int creditTokens(RoutingRequest request, int row) {
    return Math.min(creditTokens[row], request.knownTokens());
  }

  /** The same in whole blocks. */
  public int creditBlocks(RoutingRequest request, int row) {
    return creditTokens(request, row) / request.blocks().blockSizeTokens();
  }

  /** Tokens of {@code request} that it must compute; 0 if the prompt is not known. */
  public int uncachedTokens(RoutingRequest request, int row) {
    return request.knownTokens() - creditTokens(request, row);
  }

  /** Milliseconds of prefill that {@code request} costs there; 0 if its prompt is not known. */
  public double prefillMillis(RoutingRequest request, int row) {
    return costs[row].millis(uncachedTokens(request, row), request.knownTokens());
  }

  /**
   * How many prompts wait at an engine in the middle of all: half of them have no more, half no
   * fewer. More than 255 count as 255.
   */
  public double medianWaiting() {
    Arrays.fill(byWaiting, 0);
    for (int row = 0; row < count; row++) {
      byWaiting[Math.min(waiting[row], MOST_WAITING)]++;
    }
    return (ranked((count - 1) / 2) + ranked(count / 2)) / 2.0;
  }

  private int ranked(int rank) {
    int value = 0;
    for (int below = byWaiting[0]; below <= rank; below += byWaiting[++value]) {}
    return value;
  }

  /** The fewest queued tokens of any. */
  public long leastQueuedTokens() {
    long least = Long.MAX_VALUE;
    for (int row = 0; row < count; row++) {
      least = Math.min(least, queuedTokens[row]);
    }
    return least;
  }

  /** The usual word for why {@code winner} was chosen: for its cache, or for its load. */
  public String reason(RoutingRequest request, int winner) {
    return creditTokens(request, winner) > 0 ? "cache" : "load";
  }

  /** Room for a score of each row, for who chooses. */
  double[] scores() {
    return scores;
  }
}
