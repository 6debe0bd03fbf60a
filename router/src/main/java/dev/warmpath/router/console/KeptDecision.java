package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.fleet.dispatch.Assignment;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.requestlog.Decision;
import org.jspecify.annotations.Nullable;

/**
 * A request that is over, as the console shows it.
 *
 * <p>Immutable.
 *
 * @param id counts decisions since the start
 * @param arrivedMillis when the request came, since 1970
 * @param engine the last engine that was given the request, or null
 * @param grounds why it was chosen, or null
 * @param predictedTokens cached tokens that it was expected to report, or {@link Decision#UNKNOWN}
 */
public record KeptDecision(
    long id,
    long arrivedMillis,
    Decision.Request request,
    @Nullable String engine,
    Assignment.@Nullable Grounds grounds,
    int predictedTokens,
    Decision.Times times,
    Decision.Tokens tokens,
    Decision.Result result,
    KeptPrompt prompt) {

  private static final long UNNUMBERED = 0;
  private static final long OVERHEAD_BYTES = 600;
  private static final long ROW_BYTES = 250;
  private static final long TERM_BYTES = 40;
  private static final double TENTH = 10;

  static KeptDecision of(
      long nowMillis, Decision decision, @Nullable PreparedRequest request, boolean keepsTokens) {
    Assignment assignment = decision.assignment();
    return new KeptDecision(
        UNNUMBERED,
        nowMillis - Math.round(decision.times().total()),
        decision.request(),
        assignment == null ? null : assignment.engine(),
        assignment == null ? null : assignment.grounds(),
        assignment == null ? Decision.UNKNOWN : assignment.predictedCachedTokens(),
        decision.times(),
        decision.tokens(),
        decision.result(),
        KeptPrompt.of(assignment == null ? null : assignment.blocks(), request, keepsTokens));
  }

  /** The same with its number. */
  KeptDecision as(long number) {
    return new KeptDecision(
        number,
        arrivedMillis,
        request,
        engine,
        grounds,
        predictedTokens,
        times,
        tokens,
        result,
        prompt);
  }

  /** The request as it could be dispatched again. */
  public PreparedRequest again() {
    BlockChain blocks = prompt.blocks();
    return new PreparedRequest(
        request.model(),
        blocks == null ? Prompt.of(null) : Prompt.ofBlocks(blocks),
        request.session(),
        true,
        prompt.estimatedTokens(),
        0,
        null);
  }

  /** Why the engine was chosen, as the policy calls it; null if none was. */
  public @Nullable String reason() {
    return grounds == null ? null : grounds.reason();
  }

  /** Tokens that were predicted and not cached. */
  public int overTokens() {
    boolean isKnown = predictedTokens >= 0 && tokens.cached() >= 0;
    return isKnown ? Math.max(0, predictedTokens - tokens.cached()) : 0;
  }

  /** Whether an engine of the replica called {@code name} was given it. */
  public boolean isOf(String name) {
    return engine != null && (engine.equals(name) || engine.startsWith(name + "/"));
  }

  /** About as many bytes as it takes in memory. */
  long bytes() {
    return OVERHEAD_BYTES
        + scoreBytes()
        + prompt.bytes()
        + length(request.model())
        + length(request.session());
  }

  private long scoreBytes() {
    return grounds == null
        ? 0
        : grounds.scored().stream()
            .mapToLong(row -> ROW_BYTES + TERM_BYTES * row.score().terms().size())
            .sum();
  }

  private static long length(@Nullable String text) {
    return text == null ? 0 : 2L * text.length();
  }

  /** Nothing of it tells of the prompt's text, or of the session's name. */
  public ObjectNode json() {
    ObjectNode to = JsonNodeFactory.instance.objectNode();
    to.put("id", id).put("timeMs", arrivedMillis).put("requestId", request.id());
    to.put("model", request.model()).put("path", request.path()).put("client", request.client());
    to.put("engine", engine);
    to.put("policy", grounds == null ? null : grounds.policy());
    to.put("reason", reason());
    count(to, "promptTokens", tokens.prompt());
    count(to, "predictedCachedTokens", predictedTokens);
    count(to, "cachedTokens", tokens.cached());
    count(to, "answerTokens", tokens.answer());
    to.put("overTokens", overTokens());
    millis(to, "waitMs", times.waited());
    millis(to, "ttftMs", times.firstToken());
    millis(to, "totalMs", times.total());
    to.put("outcome", result.outcome()).put("status", result.status()).put("code", result.code());
    to.put("attempts", result.attempts());
    to.put("explainable", prompt.blocks() != null);
    return to;
  }

  private static void count(ObjectNode to, String name, int value) {
    to.put(name, value < 0 ? null : (Integer) value);
  }

  private static void millis(ObjectNode to, String name, double millis) {
    to.put(name, Double.isNaN(millis) ? null : (Double) (Math.round(TENTH * millis) / TENTH));
  }
}
