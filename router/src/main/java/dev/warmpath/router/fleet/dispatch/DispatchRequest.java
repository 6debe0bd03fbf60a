package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.tokenizer.PromptResult;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A request that needs a replica.
 *
 * <p>Immutable.
 *
 * @param model the model it names, or null for any
 * @param prompt its prompt; null where there is none or nobody tried to read it
 * @param sessionKey what the client calls its session or user, or null
 * @param excluded names of replicas that have failed it already
 */
public record DispatchRequest(
    @Nullable String model,
    @Nullable PromptResult prompt,
    @Nullable String sessionKey,
    Set<String> excluded) {

  public DispatchRequest {
    excluded = Set.copyOf(excluded);
  }
}
