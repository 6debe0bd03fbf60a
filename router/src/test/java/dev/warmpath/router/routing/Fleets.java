package dev.warmpath.router.routing;

import java.util.List;

/** Candidates and requests to try policies on. */
public final class Fleets {

  private Fleets() {}

  /** So many idle candidates that were never chosen: r0, r1, … */
  public static Candidates idle(int count) {
    Candidates candidates = new Candidates();
    for (int i = 0; i < count; i++) {
      candidates.add("r" + i, i, PrefillCost.DEFAULT, Candidates.NEVER);
    }
    return candidates;
  }

  /**
   * One candidate.
   *
   * @param cached tokens in all its memory, those in CPU memory only, those on disk only
   */
  public record Row(
      String name,
      List<Integer> cached,
      Load load,
      PrefillCost cost,
      long lastTurn,
      long capacityTokens) {

    public Row(String name, int creditTokens, Load load, PrefillCost cost, long lastTurn) {
      this(name, List.of(creditTokens, 0, 0), load, cost, lastTurn, 0);
    }

    /** The same with so many tokens of which CPU memory and disk alone hold some. */
    public Row cached(int tokens, int host, int disk) {
      return new Row(name, List.of(tokens, host, disk), load, cost, lastTurn, capacityTokens);
    }

    /** The same, last chosen then. */
    public Row turn(long turn) {
      return new Row(name, cached, load, cost, turn, capacityTokens);
    }

    /** The same with room for so many tokens. */
    public Row capacity(long tokens) {
      return new Row(name, cached, load, cost, lastTurn, tokens);
    }
  }

  public static Candidates of(Row... rows) {
    return of(List.of(rows));
  }

  /** Candidates with the numbers 0, 1, … */
  public static Candidates of(List<Row> rows) {
    Candidates candidates = new Candidates();
    for (Row row : rows) {
      candidates
          .add(row.name, candidates.count(), row.cost, row.lastTurn)
          .cached(row.cached.get(0), row.cached.get(1), row.cached.get(2))
          .load(row.load)
          .capacity(row.capacityTokens);
    }
    return candidates;
  }

  public static Row busy(String name, int requests) {
    return with(name, 0, requests(requests));
  }

  /** One that would not compute so many tokens again, and has so many requests in flight. */
  public static Row holder(String name, int creditTokens, int requests) {
    return with(name, creditTokens, requests(requests));
  }

  /** So many requests in flight, of which nothing else counts. */
  public static Load requests(int inFlight) {
    return new Load(inFlight, 0, 0, 0, 0);
  }

  /** So many requests in flight with so many tokens to compute. */
  public static Load queued(int inFlight, long tokens) {
    return new Load(inFlight, Math.min(1, inFlight), tokens, 0, 0);
  }

  public static Row with(String name, int creditTokens, Load load) {
    return new Row(name, creditTokens, load, PrefillCost.DEFAULT, Candidates.NEVER);
  }

  public static Row turned(String name, long lastTurn) {
    return busy(name, 0).turn(lastTurn);
  }

  /** A request of that many tokens that always draws 0. */
  public static RoutingRequest prompt(int tokens) {
    return new RoutingRequest(tokens, PromptBlocks.NONE, null, 0, 0, 0);
  }

  /**
   * A prompt of whole blocks of 16 tokens, of which the first ones are those of a family.
   *
   * @param own tells it apart from others of the family
   */
  public static RoutingRequest prompt(int sharedBlocks, int ownBlocks, int family, int own) {
    PromptBlocks blocks = new Blocks(sharedBlocks, sharedBlocks + ownBlocks, family, own);
    return new RoutingRequest(16 * blocks.count(), blocks, null, family, 0, 0);
  }

  private record Blocks(int shared, int count, int family, int own) implements PromptBlocks {
    @Override
    public int blockSizeTokens() {
      return 16;
    }

    @Override
    public long key(int index) {
      long path = index < shared ? family : 100_000L * (shared + 1) + 1000L * family + own;
      return path << Integer.SIZE | index;
    }
  }

  public static RoutingRequest session(String key) {
    return new RoutingRequest(RoutingRequest.UNKNOWN_TOKENS, PromptBlocks.NONE, key, 0, 0, 0);
  }

  public static RoutingRequest draw(long draw) {
    return new RoutingRequest(RoutingRequest.UNKNOWN_TOKENS, PromptBlocks.NONE, null, 0, draw, 0);
  }
}
