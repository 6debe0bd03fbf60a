package dev.warmpath.router.members;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.config.ReplicaConfig;
import dev.warmpath.router.fleet.Replica;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What vLLM says of its data-parallel ranks and where each publishes its events ({@code GET
 * /kv_event_sources}, since 0.31), and what that makes of a replica's description.
 *
 * <p>The engine knows its ranks: a rank that it does not have cannot be asked for, and blocks of
 * one that is not followed would be credited to another. So its ranks take the place of those that
 * are configured. Endpoints may be reached otherwise than the engine thinks, so configured ones
 * stay.
 *
 * <p>Immutable.
 *
 * @param ranks in their order; null if it does not say
 */
public record AnnouncedRanks(@Nullable List<Source> ranks) {

  /*
   * The answer is not to be believed in everything. It is bounded; ranks have to be as of a real
   * engine; and an endpoint is followed only at the replica's own host, or at a host that
   * fleet.allowed-hosts names: else an engine could make the router connect anywhere.
   *
   * Two ranks at one endpoint are followed by neither: what comes there is both's.
   */

  /** It has no such path. */
  public static final AnnouncedRanks UNTOLD = new AnnouncedRanks(null);

  /** Longest answer that is read: twice what the most ranks take, and no tree that a heap feels. */
  public static final int MOST_BYTES = 1 << 18;

  private static final int MOST_RANKS = 1_024;
  private static final int LAST_RANK = 65_535;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Host and port; a port above all ports is found when it is connected to. */
  private static final Pattern ENDPOINT = Pattern.compile("tcp://(\\S+):([1-9][0-9]{0,4})");

  /** What may stand in a log. */
  private static final String SHOWN = "[!-~]{1,200}";

  private static final Set<String> WILDCARDS = Set.of("*", "0.0.0.0", "::", "[::]");

  /**
   * Where one rank publishes its events.
   *
   * @param rank among those of all nodes
   * @param endpoint as the engine was given it, such as {@code tcp://*:5557}; with its rank's port
   * @param replayEndpoint likewise; null if replay is off
   */
  public record Source(int rank, String endpoint, @Nullable String replayEndpoint) {

    /** The port, as text. */
    public static String port(String endpoint) {
      return endpoint.substring(endpoint.lastIndexOf(':') + 1);
    }
  }

  /** Takes what engines say. */
  public interface Listener {

    /** Whether the replica is to be asked. */
    boolean wantsRanks(Replica replica);

    /** Whether the fleet has changed by it, when that is done. */
    CompletionStage<Boolean> ranksAnnounced(Replica replica, AnnouncedRanks ranks);
  }

  /**
   * A replica as its engine describes it.
   *
   * @param problems for an operator, in words that are the same each time
   */
  public record Described(ReplicaConfig replica, List<String> problems) {}

  /** Reads an answer; empty if it is none. */
  public static Optional<AnnouncedRanks> read(byte[] answer) {
    if (answer.length > MOST_BYTES) {
      return Optional.empty();
    }
    try {
      return read(JSON.readTree(answer));
    } catch (IOException e) {
      return Optional.empty();
    }
  }

  private static Optional<AnnouncedRanks> read(JsonNode answer) {
    if (!answer.isObject()) {
      return Optional.empty();
    }
    List<Source> ranks = new ArrayList<>();
    for (Map.Entry<String, JsonNode> entry : answer.properties()) {
      String rank = entry.getKey();
      JsonNode endpoint = entry.getValue().path("endpoint");
      String replay = entry.getValue().path("replay_endpoint").textValue();
      if (!rank.matches("0|[1-9][0-9]{0,4}")
          || !endpoint.isTextual()
          || !endpoint.textValue().matches(SHOWN)
          || (replay != null && !replay.matches(SHOWN))) {
        return Optional.empty();
      }
      ranks.add(new Source(Integer.parseInt(rank), endpoint.textValue(), replay));
    }
    ranks.sort(Comparator.comparingInt(Source::rank));
    return Optional.of(new AnnouncedRanks(List.copyOf(ranks)));
  }

  /** The hosts that it names other than as any of its machine. */
  Set<String> hosts() {
    Set<String> hosts = new HashSet<>();
    if (ranks != null) {
      ranks.stream()
          .flatMap(source -> Stream.of(source.endpoint(), String.valueOf(source.replayEndpoint())))
          .map(AnnouncedRanks::host)
          .forEach(hosts::add);
    }
    hosts.removeAll(WILDCARDS);
    hosts.remove("");
    return hosts;
  }

  private static String host(String endpoint) {
    Matcher parts = ENDPOINT.matcher(endpoint);
    return parts.matches() ? parts.group(1).toLowerCase(Locale.ROOT) : "";
  }

  /**
   * The replica by what is configured and what the engine says.
   *
   * @param mayFollow whether events may be followed at a host that the engine names
   */
  public Described describe(ReplicaConfig asked, Predicate<String> mayFollow) {
    if (ranks == null) {
      return asked.asksForEvents()
          ? without(asked, "has no /kv_event_sources (vLLM before 0.31): set 'events'")
          : new Described(asked, List.of());
    }
    if (ranks.isEmpty()) {
      String off = "says that its events are off";
      return asked.asksForEvents()
          ? without(asked, off)
          : new Described(asked, List.of(off + ", but 'events' is configured"));
    }
    int first = ranks.get(0).rank();
    int last = ranks.get(ranks.size() - 1).rank();
    if (last - first + 1 != ranks.size() || ranks.size() > MOST_RANKS || last > LAST_RANK) {
      String problem =
          "names ranks that no engine has: %d from %d to %d".formatted(ranks.size(), first, last);
      return asked.asksForEvents()
          ? without(asked, problem)
          : new Described(asked, List.of(problem));
    }
    List<String> problems = new ArrayList<>();
    boolean isSet = !asked.asksForEvents() || asked.ranks() > 1 || asked.firstRank() > 0;
    if (isSet && (asked.ranks() != ranks.size() || asked.firstRank() != first)) {
      problems.add(
          "has %d ranks from rank %d on, configured are %d from rank %d on: the engine's are taken"
              .formatted(ranks.size(), first, asked.ranks(), asked.firstRank()));
    }
    return asked.asksForEvents()
        ? new Described(followed(asked, ranks, mayFollow, problems), problems)
        : new Described(compared(asked.withRanks(first, ranks.size()), ranks, problems), problems);
  }

  private static Described without(ReplicaConfig asked, String problem) {
    return new Described(asked.withoutEvents(), List.of(problem + "; it is routed by load"));
  }

  private static ReplicaConfig compared(
      ReplicaConfig replica, List<Source> ranks, List<String> problems) {
    for (int rank = 0; rank < ranks.size(); rank++) {
      Source source = ranks.get(rank);
      String configured = replica.eventsOf(rank);
      if (configured == null) {
        problems.add(
            "rank %d publishes at %s, but 'events' names no endpoint for it: it gives no credit"
                .formatted(source.rank(), source.endpoint()));
      } else if (!Source.port(configured).equals(Source.port(source.endpoint()))) {
        problems.add(
            "rank %d publishes at %s, configured is %s, which is followed"
                .formatted(source.rank(), source.endpoint(), configured));
      }
    }
    return replica;
  }

  private static ReplicaConfig followed(
      ReplicaConfig asked, List<Source> ranks, Predicate<String> mayFollow, List<String> problems) {
    Set<String> seen = new HashSet<>();
    Set<String> twice = new HashSet<>();
    ranks.stream().map(Source::endpoint).filter(one -> !seen.add(one)).forEach(twice::add);
    List<@Nullable String> events = new ArrayList<>();
    List<@Nullable String> replay = new ArrayList<>();
    for (Source source : ranks) {
      String endpoint = reached(asked, source.endpoint(), mayFollow);
      if (endpoint == null || twice.contains(source.endpoint())) {
        problems.add(
            "rank %d publishes at %s, which is %s: it gives no credit"
                .formatted(
                    source.rank(),
                    source.endpoint(),
                    endpoint == null
                        ? "not at its own host nor in fleet.allowed-hosts"
                        : "another rank's too"));
        endpoint = null;
      }
      events.add(endpoint);
      String missed = source.replayEndpoint();
      replay.add(endpoint == null || missed == null ? null : reached(asked, missed, mayFollow));
    }
    return asked.withEndpoints(ranks.get(0).rank(), events, replay);
  }

  /** What the engine's endpoint is here; null if it may not be followed. */
  private static @Nullable String reached(
      ReplicaConfig replica, String endpoint, Predicate<String> mayFollow) {
    Matcher parts = ENDPOINT.matcher(endpoint);
    if (!parts.matches()) {
      return null;
    }
    String host = parts.group(1).toLowerCase(Locale.ROOT);
    if (WILDCARDS.contains(host)) {
      return "tcp://" + replica.url().getHost() + ":" + parts.group(2);
    }
    return mayFollow.test(host) ? "tcp://" + host + ":" + parts.group(2) : null;
  }
}
