package dev.warmpath.router.proxy;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.DispatchResult;
import dev.warmpath.router.fleet.dispatch.DispatchResult.NoCandidate;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import dev.warmpath.router.prompt.PromptPool;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.prompt.body.BodyFields;
import dev.warmpath.router.requestlog.PromptPieces;
import dev.warmpath.router.trace.RequestTrace;
import dev.warmpath.tokenizer.RequestKind;
import io.vertx.core.http.HttpHeaders;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A request between its body and its first attempt: its prompt is read, its client's quota looked
 * at, and an engine asked for.
 *
 * <p>Begun on the exchange's event loop; the rest happens on a thread of the prompt pool.
 */
final class PromptStage {

  /**
   * What came of it.
   *
   * @param refusal why no engine was asked for, or null
   * @param placed null if no engine was asked for
   * @param pieces of the prompt, for the decision log
   * @param hidesTransfers whether the client gets the answer's {@code kv_transfer_params} empty
   */
  record Result(
      PreparedRequest request,
      @Nullable ApiError refusal,
      @Nullable DispatchResult placed,
      @Nullable BlockChain pieces,
      boolean hidesTransfers) {}

  private final Exchange exchange;
  private final ProxyContext proxy;
  private final ClientQuota quota;
  private final Route route;
  private final @Nullable String contentType;
  private byte[] body = new byte[0];

  PromptStage(Exchange exchange, ProxyContext proxy, ClientQuota quota) {
    this.exchange = exchange;
    this.proxy = proxy;
    this.quota = quota;
    this.route = exchange.route();
    List<String> types = exchange.request().headers().getAll(HttpHeaders.CONTENT_TYPE);
    this.contentType = types.isEmpty() ? null : String.join(", ", types);
  }

  /** Begins; one of {@code done} and {@code failed} is called once, on a thread of the pool. */
  PromptPool.Ticket begin(
      byte[] body, RoutingHints hints, Consumer<Result> done, Consumer<Throwable> failed) {
    this.body = body;
    return read(
        body,
        read -> {
          Result result;
          try {
            result = result(read, hints);
          } catch (RuntimeException | Error e) {
            failed.accept(e);
            return;
          }
          done.accept(result);
        });
  }

  private PromptPool.Ticket read(byte[] body, Consumer<ReadRequest> done) {
    RequestKind kind = route.kind();
    if (kind != null && !BodyFields.isForm(contentType)) {
      return proxy.prompts().read(kind, body, done);
    }
    boolean computes = route.computes();
    return proxy
        .prompts()
        .readWithoutPrompt(
            body, contentType, read -> done.accept(computes ? read : read.withoutWork()));
  }

  private Result result(ReadRequest read, RoutingHints hints) {
    PreparedRequest request = read.prepare(hints).only(replicaOfStoredResponse(read));
    ApiError refusal =
        read.readable()
            ? refusal(read, request)
            : ApiError.overloaded("too many bodies wait to be read");
    BlockChain pieces = proxy.logs().wantsPieces() ? PromptPieces.of(request) : null;
    RequestTrace trace = exchange.trace();
    if (trace != null) {
      trace.deciding(request.model(), request.prompt().lengthTokens(), request.prompt().fallback());
    }
    DispatchResult placed = refusal == null ? admit(request) : null;
    if (trace != null) {
      trace.decided(word(placed));
    }
    return new Result(request, refusal, placed, pieces, hidesTransfers());
  }

  /** A client that sends such parameters knows the engines, as a sidecar of them does. */
  private boolean hidesTransfers() {
    String passes = proxy.config().headers().passTransferParams();
    return route.kind() != null
        && !passes.equals("always")
        && (passes.equals("never") || !TransferParams.areNamedIn(body));
  }

  /**
   * The client of a stored response may see it, and needs no model for that; nobody else may, nor
   * may a response go on from it.
   */
  private @Nullable ApiError refusal(ReadRequest read, PreparedRequest request) {
    String stored = storedResponse(read);
    if (stored != null && !proxy.admission().responses().isOf(stored, quota.name())) {
      return ApiError.responseNotFound();
    }
    return exchange.storedId() != null
        ? quota.refusal(request)
        : quota.refusal(request, () -> proxy.prompts().reader().models(body, contentType));
  }

  private static String word(@Nullable DispatchResult result) {
    if (result instanceof Assignment assignment) {
      return assignment.engine();
    }
    return result instanceof NoCandidate none ? none.cause().label() : "queued";
  }

  /** The replica that has what the request is about or goes on from; null if any will do. */
  private @Nullable String replicaOfStoredResponse(ReadRequest read) {
    String id = storedResponse(read);
    return id == null ? null : proxy.admission().responses().replica(id);
  }

  private @Nullable String storedResponse(ReadRequest read) {
    return exchange.keepsResponses() ? read.previousResponse() : exchange.storedId();
  }

  /** Without the replica that it needs another one may tell the client so. */
  private DispatchResult admit(PreparedRequest request) {
    DispatchResult result = proxy.dispatcher().admit(request, exchange::left);
    boolean isGone = result instanceof NoCandidate && request.onlyReplica() != null;
    return isGone ? proxy.dispatcher().admit(request.only(null), exchange::left) : result;
  }
}
