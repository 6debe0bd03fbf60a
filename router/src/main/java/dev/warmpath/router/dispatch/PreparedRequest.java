package dev.warmpath.router.dispatch;

import dev.warmpath.router.routing.RoutingRequest;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request that needs an engine, read and hashed once: for its first try, its retries, and to
 * explain it.
 *
 * <p>Immutable.
 *
 * @param model the model it names, or null for any
 * @param prompt its prompt, with its blocks
 * @param sessionKey what the client calls its session or user, or null
 * @param streamed whether its response will show when the prompt is computed
 * @param estimatedTokens how long its prompt may be, where its tokens are not known
 * @param priority the lower, the earlier it leaves the queue
 * @param client whose request it is, or null: clients have their turns in the queue
 * @param onlyReplicas names of the replicas that alone can answer it; null for any
 * @param splittable whether one engine may compute its prompt and another one its answer
 * @param capsLoads whether it can tell an engine to read nothing back from slower memory
 */
public record PreparedRequest(
    @Nullable String model,
    Prompt prompt,
    @Nullable String sessionKey,
    boolean streamed,
    int estimatedTokens,
    int priority,
    @Nullable String client,
    @Nullable Set<String> onlyReplicas,
    boolean splittable,
    boolean capsLoads) {

  public PreparedRequest {
    onlyReplicas = onlyReplicas == null ? null : Set.copyOf(onlyReplicas);
  }

  /** A request that any replica with its model can answer. */
  public PreparedRequest(
      @Nullable String model,
      Prompt prompt,
      @Nullable String sessionKey,
      boolean streamed,
      int estimatedTokens,
      int priority,
      @Nullable String client) {
    this(
        model, prompt, sessionKey, streamed, estimatedTokens, priority, client, null, false, false);
  }

  /** The same with a prompt that was found out elsewhere. */
  public PreparedRequest with(Prompt found) {
    return new PreparedRequest(
        model,
        found,
        sessionKey,
        streamed,
        estimatedTokens,
        priority,
        client,
        onlyReplicas,
        splittable,
        capsLoads);
  }

  /** The same for an engine that computes nothing for it. */
  public PreparedRequest withoutWork() {
    return new PreparedRequest(
        model, prompt, sessionKey, streamed, 0, priority, client, onlyReplicas, false, capsLoads);
  }

  /** The same for these replicas, or for any if {@code replicas} is null. */
  public PreparedRequest only(@Nullable Set<String> replicas) {
    return new PreparedRequest(
        model,
        prompt,
        sessionKey,
        streamed,
        estimatedTokens,
        priority,
        client,
        replicas,
        false,
        capsLoads);
  }

  /** The same, of which one engine may compute the prompt and another one the answer. */
  public PreparedRequest split() {
    return allowing(onlyReplicas == null, capsLoads);
  }

  /** The same, which can tell an engine to read nothing back from slower memory. */
  public PreparedRequest capping() {
    return allowing(splittable, true);
  }

  private PreparedRequest allowing(boolean splits, boolean caps) {
    return new PreparedRequest(
        model,
        prompt,
        sessionKey,
        streamed,
        estimatedTokens,
        priority,
        client,
        onlyReplicas,
        splits,
        caps);
  }

  /** How long its prompt is, or may be. */
  int promptTokens() {
    int known = prompt.lengthTokens();
    return known == RoutingRequest.UNKNOWN_TOKENS ? estimatedTokens : known;
  }
}
