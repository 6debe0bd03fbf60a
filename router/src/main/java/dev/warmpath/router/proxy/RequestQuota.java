package dev.warmpath.router.proxy;

import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.routing.RoutingRequest;
import dev.warmpath.router.security.ClientAccount;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What one request may do by its API key, and what it has used of the key's rates. Without keys it
 * may do everything.
 *
 * <p>Its prompt is judged by one thread of the pool, all else happens on its event loop.
 */
final class RequestQuota {

  private static final int NOT_ADMITTED = -1;

  private final @Nullable ClientAccount client;
  private final LongSupplier nanoClock;
  private final AtomicInteger promptTokens = new AtomicInteger(NOT_ADMITTED);

  /**
   * @param client whose key the request came with; null without keys
   */
  RequestQuota(@Nullable ClientAccount client, LongSupplier nanoClock) {
    this.client = client;
    this.nanoClock = nanoClock;
  }

  @Nullable ClientAccount client() {
    return client;
  }

  /** The client's name; null without keys. */
  @Nullable String name() {
    return client == null ? null : client.name();
  }

  /**
   * Why the request is refused, now that its models and prompt are known; null if it is not.
   *
   * @param models all that it names
   */
  @Nullable ApiError refusal(
      PreparedRequest request, Supplier<? extends Collection<String>> models) {
    return client == null || client.mayUseAll(models)
        ? refusal(request)
        : ApiError.of(ClientAccount.Answer.MODEL_FORBIDDEN);
  }

  /** Why one that needs no model is refused; null if it is not. */
  @Nullable ApiError refusal(PreparedRequest request) {
    if (client == null) {
      return null;
    }
    int known = request.prompt().lengthTokens();
    int length = known == RoutingRequest.UNKNOWN_TOKENS ? request.estimatedTokens() : known;
    ClientAccount.Answer answer = client.prompt(length, nanoClock.getAsLong());
    if (answer.isAdmitted()) {
      promptTokens.set(length);
      return null;
    }
    return ApiError.of(answer);
  }

  /**
   * The request is over; what no engine was given is given back, once. Its prompt may be counted
   * after that, if the client left meanwhile: then this is called again.
   */
  void over(Timeline timeline) {
    int counted = promptTokens.getAndSet(NOT_ADMITTED);
    if (client == null || counted == NOT_ADMITTED) {
      return;
    }
    Usage usage = timeline.attempts() == 0 ? new Usage(0, 0, 0) : timeline.usage();
    int prompt = usage.promptTokens() == Usage.ABSENT ? counted : usage.promptTokens();
    client.settleUsage(prompt - counted, Math.max(0, usage.answerTokens()), nanoClock.getAsLong());
  }
}
