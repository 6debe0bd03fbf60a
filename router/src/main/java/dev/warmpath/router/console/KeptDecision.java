package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.dispatch.UncachedTokens;
import dev.warmpath.router.logs.Decision;
import org.jspecify.annotations.Nullable;

/**
 * A decision as the console keeps and shows it.
 *
 * <p>Immutable.
 *
 * @param id counts decisions since the start
 * @param arrivedMillis when the request came, since 1970
 * @param tokenIds the prompt's, not to be changed; null if they are not known, or not kept
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record KeptDecision(long id, long arrivedMillis, Decision decision, int @Nullable [] tokenIds) {

  private static final double TENTH = 10;

  /** The request as it could be dispatched now. */
  public PreparedRequest request() {
    BlockChain blocks = blocks();
    Choice choice = decision.choice();
    PreparedRequest request =
        new PreparedRequest(
            decision.request().model(),
            blocks == null ? Prompt.of(null) : Prompt.ofBlocks(blocks),
            decision.request().session(),
            true,
            decision.tokens().estimated(),
            0,
            null);
    return choice != null && choice.prefill() != null ? request.split() : request;
  }

  private @Nullable BlockChain blocks() {
    return decision.choice() == null ? null : decision.choice().blocks();
  }

  /** Why the engine was chosen, as the policy calls it; null if none was. */
  public @Nullable String reason() {
    return decision.choice() == null ? null : decision.choice().reason();
  }

  /** Tokens that were predicted and not cached. */
  public int overTokens() {
    int cached = decision.tokens().cached();
    return cached < 0 ? 0 : Math.max(0, predictedTokens() - cached);
  }

  private int predictedTokens() {
    Choice choice = decision.choice();
    return choice == null ? Decision.UNKNOWN : choice.prediction().cachedTokens();
  }

  /** Whether an engine of the replica called {@code name} was given it. */
  public boolean isOf(String name) {
    Choice choice = decision.choice();
    return choice != null
        && (isAt(choice, name) || (choice.prefill() != null && isAt(choice.prefill(), name)));
  }

  private static boolean isAt(Choice choice, String name) {
    return choice.engine().equals(name) || choice.engine().startsWith(name + "/");
  }

  /** About as many bytes as it takes in memory. */
  long bytes() {
    return decision.bytes() + (tokenIds == null ? 0 : (long) tokenIds.length * Integer.BYTES);
  }

  /** Nothing of it tells of the prompt's text, or of the session's name. */
  public ObjectNode json() {
    Decision.Request request = decision.request();
    Choice choice = decision.choice();
    Decision.Tokens tokens = decision.tokens();
    Decision.Times times = decision.times();
    Decision.Result result = decision.result();
    ObjectNode to = JsonNodeFactory.instance.objectNode();
    to.put("id", id).put("timeMs", arrivedMillis).put("requestId", request.id());
    to.put("model", request.model()).put("path", request.path()).put("client", request.client());
    to.put("engine", choice == null ? null : choice.engine());
    if (choice != null && choice.prefill() != null) {
      to.put("prefillEngine", choice.prefill().engine());
    }
    to.put("policy", choice == null ? null : choice.policy());
    to.put("reason", reason());
    count(to, "promptTokens", tokens.prompt());
    count(to, "predictedCachedTokens", predictedTokens());
    count(to, "cachedTokens", tokens.cached());
    count(to, "answerTokens", tokens.answer());
    to.put("overTokens", overTokens());
    UncachedTokens uncached =
        choice == null ? null : choice.uncached(tokens.prompt(), tokens.cached());
    if (uncached != null) {
      ObjectNode causes = to.putObject("uncachedTokens");
      uncached.byLabel().forEach(causes::put);
    }
    millis(to, "waitMs", times.waited());
    millis(to, "ttftMs", times.firstToken());
    millis(to, "totalMs", times.total());
    to.put("outcome", result.outcome()).put("status", result.status()).put("code", result.code());
    to.put("attempts", result.attempts());
    to.put("explainable", blocks() != null);
    return to;
  }

  private static void count(ObjectNode to, String name, int value) {
    to.put(name, value < 0 ? null : (Integer) value);
  }

  private static void millis(ObjectNode to, String name, double millis) {
    to.put(name, Double.isNaN(millis) ? null : (Double) (Math.round(TENTH * millis) / TENTH));
  }
}
