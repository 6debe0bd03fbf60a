package dev.warmpath.router;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.EngineStanding;
import dev.warmpath.eventingest.follow.EventIngest;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.EngineView;
import dev.warmpath.router.fleet.EngineViews;
import dev.warmpath.router.fleet.Replica;

/**
 * Ties the replicas to their event streams: follows those of a configured replica, and shows the
 * dispatcher how an engine stands.
 *
 * <p>Thread-safe.
 */
final class EventStreams implements EngineViews {

  private final EventIngest ingest;

  EventStreams(EventIngest ingest) {
    this.ingest = ingest;
  }

  /** Follows the events of every rank, if the replica has any. */
  void follow(ReplicaConfig replica, String model) {
    if (replica.events() == null) {
      return;
    }
    for (int rank = 0; rank < replica.ranks(); rank++) {
      ingest.add(source(replica, replica.events(), model, rank));
    }
  }

  static EngineSource source(ReplicaConfig replica, String events, String model, int rank) {
    String replay = replica.replay();
    return new EngineSource(
        new EngineId(replica.name(), rank),
        model,
        ReplicaConfig.ofRank(events, rank),
        replica.bind(),
        replay == null ? null : ReplicaConfig.ofRank(replay, rank),
        dialect(replica.dialect()),
        replica.dialect() == ReplicaConfig.Dialect.VLLM_EAGLE ? 1 : 0);
  }

  private static EngineDialect dialect(ReplicaConfig.Dialect dialect) {
    return switch (dialect) {
      case VLLM, VLLM_EAGLE -> EngineDialect.VLLM;
      case SGLANG -> EngineDialect.SGLANG;
    };
  }

  @Override
  public EngineView of(Replica replica, int dpRank) {
    EngineStanding engine = ingest.standing(new EngineId(replica.name(), dpRank));
    return engine == null
        ? EngineView.UNSEEN
        : new EngineView(engine.slot(), engine.space(), engine.trust());
  }
}
