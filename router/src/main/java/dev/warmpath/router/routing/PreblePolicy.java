package dev.warmpath.router.routing;

import java.util.Arrays;

/**
 * Exploits a cache that saves most of the prompt, else explores the least cost, in milliseconds
 * over the last three minutes.
 *
 * <ul>
 *   <li>Most of the prompt is cached somewhere: of those that hold the most of it the lowest load
 *       L;
 *   <li>else the lowest {@code L + M + P}.
 * </ul>
 *
 * L is the predicted prefill time of the requests that the engine got in three minutes. P is this
 * prompt's own prefill time there. M is what its eviction costs: to compute again as many tokens as
 * it stores, times the share of prompt tokens that the engine served from its cache in three
 * minutes, which is how likely they would have been used again.
 *
 * <p>Source: Preble's E2 (2024). L leaves out decode times, as the router does not know how long
 * answers get; M prices an average block, where Preble names the blocks; its later rebalancing and
 * its copies of hot prefixes are left out. Remembers {@value #ENGINES} engines, about 400 bytes
 * each.
 *
 * <p>Not for quickly changing load: a burst counts for three minutes after it is over.
 *
 * <p>Thread-safe.
 */
final class PreblePolicy implements RankingPolicy {

  private static final int ENGINES = 1 << 14;

  private final RecentMap<Integer, RecentWork> work = new RecentMap<>(ENGINES);

  @Override
  public String name() {
    return "preble";
  }

  @Override
  public Ranking rank(RoutingRequest request, Candidates candidates) {
    int longest = 0;
    for (int row = 0; row < candidates.count(); row++) {
      longest = Math.max(longest, candidates.creditBlocks(request, row));
    }
    boolean exploit = longest > request.lengthBlocks() - longest;
    return new Costs(request, candidates, recent(request, candidates), exploit ? longest : 0);
  }

  /** The load L and the cache share of each candidate, in turn. */
  private double[] recent(RoutingRequest request, Candidates candidates) {
    double[] recent = new double[2 * candidates.count()];
    for (int row = 0; row < candidates.count(); row++) {
      RecentWork done = work.get(candidates.number(row));
      if (done != null) {
        done.read(request.nowNanos(), recent, 2 * row);
      }
    }
    return recent;
  }

  @Override
  public boolean remembers() {
    return true;
  }

  @Override
  public long[] committed(RoutingRequest request, Candidates candidates, int winner) {
    RecentWork known = work.get(candidates.number(winner));
    RecentWork done = known == null ? new RecentWork() : known;
    done.add(
        request.nowNanos(),
        candidates.prefillMillis(request, winner),
        request.knownTokens(),
        candidates.creditTokens(request, winner));
    work.put(candidates.number(winner), done);
    return NOTHING;
  }

  @Override
  public double memoryShare() {
    return work.share();
  }

  private static final class Costs implements Ranking {
    private final RoutingRequest request;
    private final Candidates candidates;
    private final double[] recent;
    private final int longestMatch;

    Costs(RoutingRequest request, Candidates candidates, double[] recent, int longestMatch) {
      this.request = request;
      this.candidates = candidates;
      this.recent = recent;
      this.longestMatch = longestMatch;
    }

    @Override
    public double cost(int row) {
      return load(row)
          + (longestMatch > 0 ? ruledOut(row) : evictionMillis(row) + prefillMillis(row));
    }

    private double load(int row) {
      return recent[2 * row];
    }

    private double ruledOut(int row) {
      return candidates.creditBlocks(request, row) == longestMatch ? 0 : RULED_OUT;
    }

    private double evictionMillis(int row) {
      int stored = candidates.uncachedTokens(request, row);
      return recent[2 * row + 1] * candidates.cost(row).millis(stored, stored);
    }

    private double prefillMillis(int row) {
      return candidates.prefillMillis(request, row);
    }

    @Override
    public Score score(int row) {
      Score.Term load = Score.term("load_millis", load(row));
      return longestMatch > 0
          ? Score.of(load, Score.term("short_match", ruledOut(row)))
          : Score.of(
              load,
              Score.term("eviction_millis", evictionMillis(row)),
              Score.term("prefill_millis", prefillMillis(row)));
    }

    @Override
    public String reason(int winner) {
      return longestMatch > 0 ? "cache" : "load";
    }
  }

  /**
   * What one engine was given in the last three minutes, kept in parts of fifteen seconds.
   *
   * <p>Thread-safe.
   */
  private static final class RecentWork {

    private static final int PARTS = 12;
    private static final long PART_NANOS = 15_000_000_000L;

    private final double[] prefillMillis = new double[PARTS];
    private final long[] promptTokens = new long[PARTS];
    private final long[] cachedTokens = new long[PARTS];
    private boolean begun;
    private long newestPart;

    /** A request was given to it. */
    synchronized void add(long nowNanos, double millis, int tokens, int cached) {
      advance(Math.floorDiv(nowNanos, PART_NANOS));
      int part = Math.floorMod(newestPart, PARTS);
      prefillMillis[part] += millis;
      promptTokens[part] += tokens;
      cachedTokens[part] += cached;
    }

    private void advance(long part) {
      if (!begun || part - newestPart >= PARTS) {
        Arrays.fill(prefillMillis, 0);
        Arrays.fill(promptTokens, 0);
        Arrays.fill(cachedTokens, 0);
        newestPart = part;
        begun = true;
      }
      while (newestPart < part) {
        int next = Math.floorMod(++newestPart, PARTS);
        prefillMillis[next] = 0;
        promptTokens[next] = 0;
        cachedTokens[next] = 0;
      }
    }

    /**
     * Writes the prefill milliseconds to {@code into[at]} and the share of prompt tokens that were
     * cached, 0 to 1, behind it.
     */
    synchronized void read(long nowNanos, double[] into, int at) {
      long now = Math.max(newestPart, Math.floorDiv(nowNanos, PART_NANOS));
      double millis = 0;
      long tokens = 0;
      long cached = 0;
      for (long part = now - PARTS + 1; part <= newestPart; part++) {
        int place = Math.floorMod(part, PARTS);
        millis += prefillMillis[place];
        tokens += promptTokens[place];
        cached += cachedTokens[place];
      }
      into[at] = millis;
      into[at + 1] = tokens == 0 ? 0 : (double) cached / tokens;
    }
  }
}
