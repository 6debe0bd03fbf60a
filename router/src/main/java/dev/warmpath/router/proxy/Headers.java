package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Assignment;
import dev.warmpath.router.dispatch.Prediction;
import io.vertx.core.MultiMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Which headers are passed on. Those of one connection (RFC 9110, 7.6.1) never are, in either
 * direction. Upwards neither are the ones that steer the engine, which are the router's to set,
 * {@code accept-encoding}, so that responses stay readable here, {@code content-encoding}, as
 * bodies are decoded here, and credentials unless they are meant for the engine. Downwards neither
 * are an engine's CORS permissions: which pages may call the router is not the engine's to say.
 *
 * <p>Immutable.
 */
public final class Headers {

  /** Which of a replica's engines a request is for. */
  public static final String RANK = "x-data-parallel-rank";

  private static final int DELETE = 0x7f;

  private static final Set<String> OF_THE_CONNECTION =
      Set.of(
          "connection",
          "keep-alive",
          "proxy-authenticate",
          "proxy-authorization",
          "proxy-connection",
          "te",
          "trailer",
          "transfer-encoding",
          "upgrade");

  private static final Set<String> NOT_UPWARDS =
      Set.of(
          "accept-encoding",
          "content-encoding",
          "content-length",
          "expect",
          "host",
          "http2-settings",
          RoutingHeaders.MAX_RETRIES);

  /**
   * They choose a rank, a priority, an adapter, or a host that is then connected to: read by vLLM
   * and SGLang, the sidecars of llm-d, Dynamo, SageMaker's containers, and gateways.
   */
  private static final Set<String> STEERING =
      Set.of(
          RANK,
          "x-vllm-priority",
          "x-sglang-received-timing",
          "x-prefiller-host-port",
          "x-encoder-hosts-ports",
          "x-kv-cache-source-host-port",
          "x-data-parallel-host-port",
          "x-gateway-destination-endpoint",
          "x-worker-instance-id",
          "x-prefill-instance-id",
          "x-dp-rank",
          "x-prefill-dp-rank");

  private static final List<String> STEERING_PREFIXES =
      List.of("x-override-", "x-smg-", "x-dynamo-", "x-amzn-sagemaker-");

  private static final Set<String> CREDENTIALS =
      Set.of("authorization", "x-api-key", "api-key", "cookie");

  /** The others of {@link #NOT_UPWARDS} are the gateway's own. */
  private static final Set<String> LEFT_OUT_BY_A_GATEWAY =
      Set.of("accept-encoding", "content-encoding", RoutingHeaders.MAX_RETRIES);

  private static final Set<String> NOT_UPWARDS_NOR_CREDENTIALS =
      Stream.concat(NOT_UPWARDS.stream(), CREDENTIALS.stream())
          .collect(Collectors.toUnmodifiableSet());

  /** The client gets the id that it gave, or that the router made. */
  private static final Set<String> NOT_DOWNWARDS =
      Set.of(
          RequestIds.HEADER,
          "access-control-allow-origin",
          "access-control-allow-credentials",
          "access-control-allow-headers",
          "access-control-allow-methods",
          "access-control-expose-headers",
          "access-control-max-age");

  private Headers() {}

  /**
   * The headers of a client's request that its replica sees.
   *
   * @param credentials whether they are for the replica too
   */
  static MultiMap upwards(MultiMap client, boolean credentials) {
    Set<String> without = credentials ? NOT_UPWARDS : NOT_UPWARDS_NOR_CREDENTIALS;
    return copy(
        client,
        name -> without.contains(name) || isSteering(name),
        MultiMap.caseInsensitiveMultiMap());
  }

  /**
   * Those of a client's headers that a gateway, which passes the others on by itself, has to leave
   * out.
   *
   * @param credentials whether they are for the replica too
   */
  public static Set<String> notUpwards(MultiMap client, boolean credentials) {
    return client.names().stream()
        .map(name -> name.toLowerCase(Locale.ROOT))
        .filter(name ->
            LEFT_OUT_BY_A_GATEWAY.contains(name)
                || isSteering(name)
                || (!credentials && CREDENTIALS.contains(name)))
        .collect(Collectors.toSet());
  }

  /** Adds what the router says of an answer: who gives it, and how much of its prompt was known. */
  public static void addOwn(
      RouterConfig.Headers config, Assignment assignment, BiConsumer<String, String> to) {
    if (!config.replica()) {
      return;
    }
    to.accept("x-warmpath-replica", assignment.replica().name());
    Prediction prediction = assignment.choice().prediction();
    if (config.cachedTokens() && prediction.predicts()) {
      to.accept("x-warmpath-cached-tokens", Integer.toString(prediction.cachedTokens()));
    }
  }

  /** Adds the headers of a replica's response that the client sees to {@code client}. */
  static void downwards(MultiMap replica, MultiMap client) {
    copy(replica, NOT_DOWNWARDS::contains, client);
  }

  private static boolean isSteering(String name) {
    return name.startsWith("x-")
        && (STEERING.contains(name) || STEERING_PREFIXES.stream().anyMatch(name::startsWith));
  }

  /** A replica's reason phrase as the client sees it; null for the usual one of the status. */
  static @Nullable String reason(@Nullable String replica) {
    boolean passes = replica != null && replica.chars().allMatch(c -> c == '\t' || isText(c));
    return passes ? replica : null;
  }

  private static boolean isText(int c) {
    return c >= ' ' && c != DELETE;
  }

  private static MultiMap copy(MultiMap from, Predicate<String> without, MultiMap to) {
    Set<String> named = namedByConnection(from);
    for (Map.Entry<String, String> header : from) {
      String name = header.getKey().toLowerCase(Locale.ROOT);
      if (!OF_THE_CONNECTION.contains(name) && !without.test(name) && !named.contains(name)) {
        to.add(header.getKey(), header.getValue());
      }
    }
    return to;
  }

  /** What {@code Connection} itself says to belong to the connection. */
  static Set<String> namedByConnection(MultiMap headers) {
    if (!headers.contains("connection")) {
      return Set.of();
    }
    Set<String> names = new HashSet<>();
    for (String value : headers.getAll("connection")) {
      for (String name : value.split(",", -1)) {
        names.add(name.trim().toLowerCase(Locale.ROOT));
      }
    }
    return names;
  }
}
