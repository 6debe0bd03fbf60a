package dev.warmpath.router.fleet.dispatch;

import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.body.ReportParameter;
import dev.warmpath.tokenizer.body.RequestNamespace;
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
 * @param namespace in which name space of an engine its blocks are
 * @param report whether it makes the engine announce again what it holds
 * @param streamed whether its response will show when the prompt is computed
 * @param estimatedTokens how long its prompt may be, where its tokens are not known
 * @param excluded names of replicas that have failed it already
 */
public record DispatchRequest(
    @Nullable String model,
    @Nullable PromptResult prompt,
    @Nullable String sessionKey,
    RequestNamespace namespace,
    ReportParameter report,
    boolean streamed,
    int estimatedTokens,
    Set<String> excluded) {

  public DispatchRequest {
    excluded = Set.copyOf(excluded);
  }

  /** A plain stream that leaves the engine's announcements as they are. */
  public DispatchRequest(
      @Nullable String model,
      @Nullable PromptResult prompt,
      @Nullable String sessionKey,
      Set<String> excluded) {
    this(
        model,
        prompt,
        sessionKey,
        RequestNamespace.PLAIN,
        ReportParameter.TAKEN,
        true,
        0,
        excluded);
  }
}
