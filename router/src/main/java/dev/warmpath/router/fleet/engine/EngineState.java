package dev.warmpath.router.fleet.engine;

import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.routing.Candidate;

/**
 * All that the router remembers of one engine while its replica is in the fleet.
 *
 * <p>Confined to the dispatcher's lock.
 */
public final class EngineState {

  private final Replica replica;
  private final int dpRank;
  private final String name;
  private final EngineLoad load = new EngineLoad();
  private final PrefillModel prefill = new PrefillModel();
  private final Suspension suspension = new Suspension();
  private final ExpectedBlocks expected;
  private long lastTurn = Candidate.NEVER;

  public EngineState(Replica replica, int dpRank, ExpectedBlocks.Limits limits) {
    this.replica = replica;
    this.dpRank = dpRank;
    this.name = name(replica, dpRank);
    this.expected = new ExpectedBlocks(limits);
  }

  /** How a replica's engine is called: by its name, with the rank behind it if it has several. */
  public static String name(Replica replica, int dpRank) {
    return replica.ranks() == 1 ? replica.name() : replica.name() + "/" + dpRank;
  }

  public Replica replica() {
    return replica;
  }

  public int dpRank() {
    return dpRank;
  }

  /** The replica's name, with the rank behind it if it has several. */
  public String name() {
    return name;
  }

  public EngineLoad load() {
    return load;
  }

  public PrefillModel prefill() {
    return prefill;
  }

  public Suspension suspension() {
    return suspension;
  }

  public ExpectedBlocks expected() {
    return expected;
  }

  /** When it was last chosen, as {@link Candidate#lastTurn} has it. */
  public long lastTurn() {
    return lastTurn;
  }

  /** It was chosen in turn {@code turn}. */
  public void chosen(long turn) {
    lastTurn = turn;
  }
}
