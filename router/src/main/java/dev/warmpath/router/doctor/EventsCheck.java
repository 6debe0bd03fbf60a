package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.router.members.AnnouncedRanks.Source;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Whether each engine's events come, and come where they are looked for. */
final class EventsCheck implements Check {

  private static final List<String> UNREADABLE =
      List.of("bad_messages", "undecodable_batches", "skipped_events");

  private static final String STORE_REMEDY =
      "compare the store's `events` with the endpoint at which its master publishes";

  @Override
  public void look(FleetFacts fleet, Findings into) {
    for (ReplicaFacts replica : fleet.replicas()) {
      if (replica.config().events() == null) {
        withoutEvents(replica, into);
      }
      replica.streams().forEach(stream -> look(replica, stream, into));
      ranks(replica, into);
    }
    fleet.stores().forEach(store -> store(store, into));
  }

  private static void store(StreamFacts stream, Findings into) {
    String name = stream.source().id().replica();
    String at = stream.source().endpoint();
    String unreadable = unreadable(stream);
    if (stream.portProblem() != null) {
      into.fail(name, at + ": " + stream.portProblem(), STORE_REMEDY);
    } else if (!stream.connected()) {
      into.fail(name, "what listens at " + at + " does not speak ZeroMQ", STORE_REMEDY);
    } else if (unreadable != null) {
      into.warn(name, unreadable, "report the store's version: its events are not understood");
    } else if (stream.batches() == 0) {
      into.warn(
          name,
          "connected to %s, but nothing came while the doctor listened".formatted(at),
          "fill it: send its readers a long prompt that is new; Mooncake's master must be built"
              + " and started with kv events");
    } else {
      into.ok(name, "events come from %s (batches: %d)".formatted(at, stream.batches()));
    }
  }

  private static void withoutEvents(ReplicaFacts replica, Findings into) {
    Optional<Source> source = replica.http().source(replica.config().firstRank());
    into.warn(
        replica.name(),
        "it has no `events`, so it is chosen by load alone",
        source.isPresent()
            ? "events: " + endpoint(replica, source.get().endpoint())
            : "add `events`; " + start(replica));
  }

  private static void look(ReplicaFacts replica, StreamFacts stream, Findings into) {
    String engine = replica.engine(stream.source().id().dpRank());
    String problem = problem(replica, stream);
    String unreadable = unreadable(stream);
    if (problem != null) {
      into.fail(engine, problem, remedy(replica, stream));
    } else if (stream.count("rank_mismatches") > 0) {
      into.fail(
          engine,
          "the stream at " + stream.source().endpoint() + " is that of another rank",
          "let `events` name the port of rank 0; rank r is looked for at that port plus r");
    } else if (unreadable != null) {
      into.warn(engine, unreadable, "report the engine's version: its events are not understood");
    } else if (stream.batches() == 0 && !hasReplayed(stream)) {
      into.warn(
          engine,
          "connected to %s, but nothing came while the doctor listened".formatted(at(stream)),
          "send the engine a request, or run the doctor without --no-requests");
    } else {
      into.ok(engine, "events come from %s (batches: %d)".formatted(at(stream), stream.batches()));
    }
  }

  private static String at(StreamFacts stream) {
    return stream.boundEndpoint() == null ? stream.source().endpoint() : stream.boundEndpoint();
  }

  private static boolean hasReplayed(StreamFacts stream) {
    return stream.replay() != null && stream.replay().batches() > 0;
  }

  /** Why no event comes; null if some do, or nobody can say. */
  private static @Nullable String problem(ReplicaFacts replica, StreamFacts stream) {
    EngineSource source = stream.source();
    Trial trial = replica.trial(source.id().dpRank()).orElse(null);
    if (stream.portProblem() != null) {
      return source.endpoint() + ": " + stream.portProblem();
    }
    if (source.bind() && stream.boundEndpoint() == null) {
      return source.endpoint() + " cannot be bound here: another process has the port";
    }
    if (!stream.connected()) {
      return source.bind()
          ? "no engine has connected to " + stream.boundEndpoint()
          : "what listens at " + source.endpoint() + " does not speak ZeroMQ";
    }
    if (trial != null && trial.heldBy() != null) {
      return "its events came on the stream of %s, not at %s"
          .formatted(trial.heldBy().replica(), source.endpoint());
    }
    return trial != null && trial.problem() == null && !trial.events()
        ? "connected to %s, but no event came after a request".formatted(at(stream))
        : null;
  }

  private static String remedy(ReplicaFacts replica, StreamFacts stream) {
    EngineSource source = stream.source();
    Trial trial = replica.trial(source.id().dpRank()).orElse(null);
    if (source.bind()) {
      return "let the engine's `endpoint` name this machine's address and the port of `events`,"
          + " and end a router that has the port";
    }
    if (trial != null && trial.heldBy() != null) {
      return "give each engine its own `events`; those of two are exchanged";
    }
    if (replica.http().sources() != null && replica.http().sources().isEmpty()) {
      return "its events are off: " + start(replica);
    }
    Optional<Source> told = replica.http().source(source.wireRank());
    if (told.isPresent() && !port(told.get().endpoint()).equals(port(source.endpoint()))) {
      return "it says that it publishes at %s: events: %s"
          .formatted(told.get().endpoint(), endpoint(replica, told.get().endpoint()));
    }
    if (told.isPresent() && !told.get().endpoint().contains("*")) {
      return "its `endpoint` %s names a host, so the engine connects: use tcp://*:PORT there, or"
              .formatted(told.get().endpoint())
          + " `bind: true` here";
    }
    return "compare `events` with the engine's `endpoint` (not its `replay_endpoint`); "
        + start(replica);
  }

  private static void ranks(ReplicaFacts replica, Findings into) {
    List<Source> sources = replica.http().sources();
    if (sources == null || sources.isEmpty()) {
      return;
    }
    int first = sources.stream().mapToInt(Source::rank).min().orElse(0);
    boolean hidden = sources.size() > replica.config().ranks();
    if (first != replica.config().firstRank() || hidden) {
      into.fail(
          replica.name(),
          "the engine has %d data-parallel ranks, from rank %d on".formatted(sources.size(), first),
          first == 0
              ? "ranks: " + sources.size()
              : "ranks: %d, first-rank: %d".formatted(sources.size(), first));
    }
  }

  private static @Nullable String unreadable(StreamFacts stream) {
    for (String counter : UNREADABLE) {
      if (stream.count(counter) > 0) {
        return "%d %s".formatted(stream.count(counter), counter.replace('_', ' '));
      }
    }
    return null;
  }

  /** How an engine is started so that it publishes events. */
  static String start(ReplicaFacts replica) {
    return replica.http().kind() == EngineKind.SGLANG || replica.config().dialect().isSglang()
        ? "start the engine with --kv-events-config"
            + " '{\"publisher\":\"zmq\",\"endpoint\":\"tcp://*:5557\","
            + "\"replay_endpoint\":\"tcp://*:5657\",\"format\":\"dynamo\"}'"
        : "start the engine with --kv-events-config"
            + " '{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\","
            + "\"endpoint\":\"tcp://*:5557\",\"replay_endpoint\":\"tcp://*:5657\"}'";
  }

  /** Where this side finds what the engine calls {@code tcp://*:5557}. */
  static String endpoint(ReplicaFacts replica, String told) {
    return "tcp://" + replica.config().url().getHost() + ":" + port(told);
  }

  private static String port(String endpoint) {
    return endpoint.substring(endpoint.lastIndexOf(':') + 1);
  }
}
