package dev.warmpath.router.doctor;

import dev.warmpath.router.doctor.StreamFacts.ReplayFacts;
import dev.warmpath.router.members.AnnouncedRanks.Source;
import java.time.Duration;
import java.util.Optional;

/** Whether missed events can be asked for, and how far back. */
final class ReplayCheck implements Check {

  private static final double MILLIS_PER_SECOND = 1e3;

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      for (StreamFacts stream : replica.streams()) {
        look(fleet, replica, stream, into);
      }
    }
  }

  private static void look(
      FleetFacts fleet, ReplicaFacts replica, StreamFacts stream, Findings into) {
    int rank = stream.source().id().dpRank();
    String engine = replica.engine(rank);
    String endpoint = stream.source().replayEndpoint();
    ReplayFacts replay = stream.replay();
    if (endpoint == null) {
      into.warn(
          engine,
          "it has no `replay`: after a gap or a restart of the router its blocks are suspended",
          remedy(replica, rank));
    } else if (stream.replayProblem() != null) {
      into.fail(engine, endpoint + ": " + stream.replayProblem(), remedy(replica, rank));
    } else if (replay == null && !stream.connected()) {
      into.warn(engine, endpoint + " was not asked, as no events come", "correct `events` first");
    } else if (replay == null || !replay.whole()) {
      into.fail(
          engine,
          endpoint + " does not answer",
          "compare `replay` with the engine's `replay_endpoint` (not its `endpoint`)");
    } else if (replay.batches() == 0) {
      into.ok(engine, endpoint + " answers; the engine has published nothing yet");
    } else if (replay.firstSequence() == 0) {
      into.ok(
          engine,
          "%s has all batches since the engine's start: %d".formatted(endpoint, replay.batches()));
    } else {
      reach(fleet, engine, replay, into);
    }
  }

  /** A router that starts anew asks for what came since its last snapshot. */
  private static void reach(FleetFacts fleet, String engine, ReplayFacts replay, Findings into) {
    double seconds = fleet.now().toEpochMilli() / MILLIS_PER_SECOND - replay.firstSeconds();
    long wanted = Duration.ofMillis(fleet.config().snapshot().intervalMs()).toSeconds();
    String found =
        Double.isNaN(seconds)
            ? "its replay reaches back %d batches".formatted(replay.batches())
            : "its replay reaches back %d batches, %.0f s".formatted(replay.batches(), seconds);
    if (seconds < wanted) {
      into.warn(
          engine,
          found + ", less than the %d s between two snapshots".formatted(wanted),
          "raise the engine's buffer_steps to %d"
              .formatted((long) (replay.batches() * Math.ceil(2 * wanted / Math.max(1, seconds)))));
    } else {
      into.ok(engine, found);
    }
  }

  private static String remedy(ReplicaFacts replica, int rank) {
    Optional<Source> told = replica.http().source(replica.config().firstRank() + rank);
    String endpoint = told.map(Source::replayEndpoint).orElse(null);
    return endpoint == null
        ? "add \"replay_endpoint\":\"tcp://*:5657\" to the engine's --kv-events-config, and"
            + " `replay`"
        : "replay: " + EventsCheck.endpoint(replica, endpoint);
  }
}
