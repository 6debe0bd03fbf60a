package dev.warmpath.router.proxy;

import dev.warmpath.router.config.RouterConfig;
import dev.warmpath.router.dispatch.Dispatcher;
import dev.warmpath.router.logs.RequestLogs;
import dev.warmpath.router.logs.Tracing;
import dev.warmpath.router.metrics.Metric;
import dev.warmpath.router.metrics.MetricValues;
import dev.warmpath.router.prompt.InferenceRules;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.security.ApiKeys;
import dev.warmpath.router.security.ServerTls;
import dev.warmpath.router.upstream.Upstreams;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * What all event loops of the proxy share.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param running the configuration that holds at the moment
 * @param random thread-safe
 * @param logs where requests that are over are noted
 * @param tracing null for no traces
 * @param rules of inference pools
 */
public record ProxyContext(
    Supplier<RouterConfig> running,
    Dispatcher dispatcher,
    Upstreams upstreams,
    PromptPool prompts,
    Pages pages,
    ProxyMetrics metrics,
    RandomGenerator random,
    LongSupplier nanoClock,
    Admission admission,
    RequestLogs logs,
    @Nullable Tracing tracing,
    Routes routes,
    InferenceRules rules) {

  /** The configuration that holds now. */
  public RouterConfig config() {
    return running.get();
  }

  /**
   * What bounds the requests served at a time and their retries, and which replica stored an
   * earlier response.
   *
   * @param keys the keys that clients need, null if they need none
   * @param tls the port's certificate, null for no TLS
   */
  public record Admission(
      Lifecycle lifecycle,
      BodyRoom bodies,
      HeapWatch heap,
      ClientConnections connections,
      RetryBudget retries,
      StoredResponses responses,
      @Nullable ApiKeys keys,
      @Nullable ServerTls tls) {

    /** How full everything is, for a scrape. */
    public void collect(MetricValues to) {
      to.add(Metric.REQUESTS_SERVING, lifecycle.serving());
      to.add(Metric.REQUESTS_LIMIT, lifecycle.limit());
      to.add(Metric.REQUEST_BODIES_BYTES, bodies.bytes());
      to.add(Metric.REQUEST_BODIES_MAX_BYTES, bodies.limitBytes());
      to.add(Metric.HEAP_USED_SHARE, heap.share());
      to.add(Metric.RETRIES_LEFT, retries.remaining());
      to.add(Metric.STORED_RESPONSES, responses.count());
      to.add(Metric.STORED_RESPONSES_LIMIT, responses.limit());
      to.add(Metric.STORED_RESPONSE_LOOKUPS_TOTAL, responses.found(), "found");
      to.add(Metric.STORED_RESPONSE_LOOKUPS_TOTAL, responses.unknown(), "unknown");
      to.add(Metric.CONNECTIONS, connections.open());
      to.add(Metric.CONNECTIONS_LIMIT, connections.limit());
      for (ClientConnections.Closed reason : ClientConnections.Closed.values()) {
        to.add(Metric.CONNECTIONS_CLOSED_TOTAL, connections.closed(reason), reason.label());
      }
    }
  }

  /**
   * Whether a client's credentials go to a replica.
   *
   * @param own what the router itself shows there, or null
   */
  public boolean passesCredentials(@Nullable String own) {
    String passes = config().headers().passCredentials();
    return passes.equals("always")
        || (passes.equals("auto") && own == null && admission.keys() == null);
  }

  public HealthPage health() {
    return new HealthPage(pages, admission.lifecycle());
  }

  RetryBudget retries() {
    return admission.retries();
  }
}
