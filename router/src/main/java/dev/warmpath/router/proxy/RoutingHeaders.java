package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.security.ClientAccount;
import io.vertx.core.MultiMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reads what a request's headers say to the router. */
final class RoutingHeaders {

  /** How often at most the request is tried again; not for the replica. */
  static final String MAX_RETRIES = "x-warmpath-max-retries";

  /*
   * What the gateways of inference pools, or their clients, say: llm-d's name, then that of the
   * Gateway API Inference Extension. They are read only where there is a pool.
   */
  private static final List<String> OBJECTIVE =
      List.of("x-llm-d-inference-objective", "x-gateway-inference-objective");
  private static final List<String> FAIRNESS =
      List.of("x-llm-d-inference-fairness-id", "x-gateway-inference-fairness-id");

  private static final List<String> ENGINE_MODEL =
      List.of("x-llm-d-model-name-rewrite", "x-gateway-model-name-rewrite");

  private RoutingHeaders() {}

  /**
   * What the headers that the configuration names, and those of inference pools, say to the
   * dispatcher.
   *
   * @param client whose API key it came with, or null
   */
  static RoutingHints of(
      RouterConfig config, InferenceRules rules, MultiMap headers, @Nullable ClientAccount client) {
    String session = headers.get(config.policy().sessionHeader());
    String model = first(ENGINE_MODEL, headers, rules);
    Integer said = priority(config.queue().priorityHeader(), headers, rules);
    if (client != null) {
      int own = client.priority();
      int priority = said == null ? own : Math.max(own, said);
      return new RoutingHints(session, priority, client.name(), model);
    }
    String clientHeader = config.queue().clientHeader();
    String named = first(FAIRNESS, headers, rules);
    if (named == null && clientHeader != null) {
      named = headers.get(clientHeader);
    }
    return new RoutingHints(session, said == null ? 0 : said, named, model);
  }

  /** The lower, the earlier; an objective's is the other way round. Null if none is told. */
  private static @Nullable Integer priority(
      @Nullable String header, MultiMap headers, InferenceRules rules) {
    Integer number = header == null ? null : number(headers.get(header));
    String objective = number == null ? first(OBJECTIVE, headers, rules) : null;
    return objective == null
        ? number
        : Integer.valueOf(-Math.max(rules.priority(objective), -Integer.MAX_VALUE));
  }

  private static @Nullable String first(
      List<String> names, MultiMap headers, InferenceRules rules) {
    if (rules.isInUse()) {
      for (String name : names) {
        String value = headers.get(name);
        if (value != null && !value.isEmpty()) {
          return value;
        }
      }
    }
    return null;
  }

  /** Retries that a client allows; what is no number forbids none. */
  static int maxRetries(MultiMap headers) {
    Integer number = number(headers.get(MAX_RETRIES));
    return number == null ? Integer.MAX_VALUE : number;
  }

  private static @Nullable Integer number(@Nullable String text) {
    try {
      return text == null ? null : Integer.valueOf(text);
    } catch (NumberFormatException e) {
      return null;
    }
  }
}
