package dev.warmpath.router.doctor;

import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.doctor.Checks.Check;
import dev.warmpath.router.doctor.Checks.Findings;
import dev.warmpath.router.doctor.HttpFacts.EngineKind;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts;
import dev.warmpath.router.doctor.ReplicaFacts.StreamFacts.ReplayFacts;
import dev.warmpath.router.doctor.ReplicaFacts.Trial;
import dev.warmpath.router.members.AnnouncedRanks.Source;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** Whether missed events can be asked for, and how far back. */
  static final class ReplayCheck implements Check {

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
            "%s has all batches since the engine's start: %d"
                .formatted(endpoint, replay.batches()));
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
                .formatted(
                    (long) (replay.batches() * Math.ceil(2 * wanted / Math.max(1, seconds)))));
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

  /** Whether the engines of one model cut prompts into the same blocks and hash them alike. */
  static final class BlocksCheck implements Check {

    private static final String UNKNOWN_SCHEME = "unknown";

    /** An engine whose blocks were seen. */
    private record Seen(String engine, ChainSpace space, String scheme) {

      /** How extra keys are hashed shows only once a block with some was seen: a salt, an image. */
      boolean hashesAs(Seen other) {
        return scheme.equals(other.scheme) || tellsMoreThan(other) || other.tellsMoreThan(this);
      }

      boolean tellsMoreThan(Seen other) {
        return scheme.startsWith(other.scheme + " ");
      }

      String blocks() {
        return space.lookaheadTokens() == 0
            ? space.blockSizeTokens() + " tokens a block"
            : "%d tokens a block and %d ahead"
                .formatted(space.blockSizeTokens(), space.lookaheadTokens());
      }
    }

    @Override
    public void look(FleetFacts fleet, Findings into) {
      Map<String, Seen> first = new LinkedHashMap<>();
      for (ReplicaFacts replica : fleet.replicas()) {
        for (StreamFacts stream : replica.streams()) {
          Seen seen = seen(replica, stream);
          if (seen != null) {
            Seen other = first.putIfAbsent(model(replica), seen);
            compare(seen, other, into);
            if (other != null && seen.tellsMoreThan(other)) {
              first.put(model(replica), seen);
            }
          } else if (stream.batches() > 0) {
            unnamed(replica.engine(stream.source().id().dpRank()), stream, into);
          }
        }
      }
    }

    private static @Nullable Seen seen(ReplicaFacts replica, StreamFacts stream) {
      ChainSpace space = stream.status().space();
      String engine = replica.engine(stream.source().id().dpRank());
      return space == null ? null : new Seen(engine, space, stream.status().hashScheme());
    }

    /** Replicas of the same model; those that do not say are taken to serve the same. */
    private static String model(ReplicaFacts replica) {
      return replica.http().baseModels().stream().findFirst().orElse("");
    }

    private static void compare(Seen seen, @Nullable Seen other, Findings into) {
      String scheme = seen.scheme.equals(UNKNOWN_SCHEME) ? "a seed of its own" : seen.scheme;
      if (other != null && differsInLookahead(seen.space, other.space)) {
        into.warn(
            seen.engine,
            "%s, but %s on %s: each is predicted by its own"
                .formatted(seen.blocks(), other.blocks(), other.engine),
            "vLLM 0.33 looks ahead with EAGLE or MTP, and not with a --kv-transfer-config: give the"
                + " engines the same options unless that is meant");
      } else if (other != null && seen.space.blockSizeTokens() != other.space.blockSizeTokens()) {
        into.fail(
            seen.engine,
            "%s, but %s on %s: they share no prefix"
                .formatted(seen.blocks(), other.blocks(), other.engine),
            "start the engines of one model with the same --block-size");
      } else if (other != null && !seen.hashesAs(other)) {
        into.warn(
            seen.engine,
            "blocks are hashed with %s, but with %s on %s"
                .formatted(scheme, other.scheme, other.engine),
            "it does no harm here; engines that share a KV store need the same"
                + " --prefix-caching-hash-algo and PYTHONHASHSEED");
      } else {
        into.ok(seen.engine, "%s, hashed with %s".formatted(seen.blocks(), scheme));
      }
    }

    private static boolean differsInLookahead(ChainSpace one, ChainSpace other) {
      return one.blockSizeTokens() == other.blockSizeTokens()
          && one.lookaheadTokens() != other.lookaheadTokens();
    }

    private static void unnamed(String engine, StreamFacts stream, Findings into) {
      long blocks = stream.count("blocks_stored");
      if (blocks > 0) {
        into.fail(
            engine,
            "%d blocks were stored, and none could be named".formatted(blocks),
            stream.count("tokenless_blocks") > 0
                ? "let the engine publish token ids with its blocks"
                : "see docs/kv-events.md for what the engine's events must hold");
      }
    }
  }
}
