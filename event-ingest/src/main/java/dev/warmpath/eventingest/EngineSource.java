package dev.warmpath.eventingest;

import org.jspecify.annotations.Nullable;

/**
 * Where one engine's events come from and how they are to be read.
 *
 * @param id the engine
 * @param model the base model's name, the same for all engines that are to share block keys
 * @param endpoint ZMQ endpoint of the live stream
 * @param bind whether this side binds the endpoint; else it connects
 * @param replayEndpoint ZMQ endpoint of the replay socket, or null if the engine has none
 * @param rules how the events are to be understood
 * @param hashSeed the engine's {@code PYTHONHASHSEED}, null if nobody said
 * @param wireRank the data-parallel rank that its batches name, which counts all nodes; batches of
 *     another rank are refused, but with {@link #ANY_RANK}
 */
public record EngineSource(
    EngineId id,
    String model,
    String endpoint,
    boolean bind,
    @Nullable String replayEndpoint,
    EngineRules rules,
    @Nullable String hashSeed,
    int wireRank) {

  /** Batches of whatever rank are the engine's. */
  public static final int ANY_RANK = -1;

  public EngineSource {
    if (endpoint.isEmpty()) {
      throw new IllegalArgumentException("endpoint is empty, id=" + id);
    }
  }

  /** An engine whose batches name the rank that it has in its replica. */
  public EngineSource(
      EngineId id,
      String model,
      String endpoint,
      boolean bind,
      @Nullable String replayEndpoint,
      EngineRules rules,
      @Nullable String hashSeed) {
    this(id, model, endpoint, bind, replayEndpoint, rules, hashSeed, id.dpRank());
  }

  /** Whether a batch that names this rank, or none (below 0), is the engine's. */
  public boolean isOfRank(int rank) {
    return rank < 0 || wireRank == ANY_RANK || rank == wireRank;
  }

  /** An engine of whose hashes nobody said anything. */
  public EngineSource(
      EngineId id,
      String model,
      String endpoint,
      boolean bind,
      @Nullable String replayEndpoint,
      EngineRules rules) {
    this(id, model, endpoint, bind, replayEndpoint, rules, null);
  }

  /** An engine that follows the usual rules of its dialect. */
  public EngineSource(
      EngineId id,
      String model,
      String endpoint,
      boolean bind,
      @Nullable String replayEndpoint,
      EngineDialect dialect) {
    this(id, model, endpoint, bind, replayEndpoint, EngineRules.of(dialect), null);
  }

  /** The same for an engine that reads a store with others. */
  public EngineSource with(StoreRules store) {
    return new EngineSource(
        id, model, endpoint, bind, replayEndpoint, rules.with(store), hashSeed, wireRank);
  }

  /** Whether the events are of a store that engines read, and not of an engine. */
  public boolean isStore() {
    StoreRules store = rules.store();
    return store != null && id.equals(store.id());
  }

  /** Whose rules the events follow. */
  public EngineDialect dialect() {
    return rules.dialect();
  }
}
