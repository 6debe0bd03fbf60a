package dev.warmpath.router.proxy;

import io.vertx.core.http.HttpServerResponse;

/**
 * What a supervisor and a balancer are told, on the clients' port and on the admin port, whose
 * event loop no client can fill.
 *
 * <p>Thread-safe.
 */
public final class HealthPage {

  private static final String JSON = "application/json";

  private final Pages pages;
  private final Lifecycle lifecycle;

  public HealthPage(Pages pages, Lifecycle lifecycle) {
    this.pages = pages;
    this.lifecycle = lifecycle;
  }

  /** Whether the process does its work; if not, only a restart helps. */
  public void live(HttpServerResponse response) {
    boolean alive = pages.indexing();
    response
        .setStatusCode(alive ? 200 : 503)
        .putHeader("content-type", JSON)
        .end("{\"status\":\"%s\"}".formatted(alive ? "ok" : "no_index_writer"));
  }

  /** Whether requests would be served. */
  public void ready(HttpServerResponse response) {
    int up = pages.replicasUp();
    String status = status(up);
    response
        .setStatusCode(isReady(status) ? 200 : 503)
        .putHeader("content-type", JSON)
        .end(
            "{\"status\":\"%s\",\"replicas\":%d,\"up\":%d,\"tokenizers\":%s%s}"
                .formatted(status, pages.replicas(), up, tokenizers(), seed()));
  }

  /** Whether requests would be served, for who asks otherwise than over HTTP. */
  public boolean isReady() {
    return isReady(status(pages.replicasUp()));
  }

  private static boolean isReady(String status) {
    return status.equals("ok") || status.equals("slow");
  }

  private String status(int up) {
    if (lifecycle.isLeaving()) {
      return "leaving";
    } else if (lifecycle.stage() == Lifecycle.Stage.STARTING) {
      return "starting";
    } else if (!pages.indexing()) {
      return "no_index_writer";
    }
    if (up == 0 && pages.hasSlowReplica()) {
      return "slow";
    }
    return up > 0 ? "ok" : "no_replica";
  }

  /** How the start from a neighbour stands, if there may be any. */
  private String seed() {
    String outcome = pages.seed();
    return outcome == null ? "" : ",\"seed\":\"" + outcome + "\"";
  }

  /** A request whose tokenizer is not ready is routed on load, so this does not fail readiness. */
  private String tokenizers() {
    Pages.Loaded loaded = pages.tokenizers();
    return "{\"ready\":%d,\"loading\":%d,\"failed\":%d}"
        .formatted(loaded.ready(), loaded.loading(), loaded.failed());
  }
}
