package dev.warmpath.router.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.fleet.dispatch.Explanation;
import dev.warmpath.router.fleet.dispatch.RequestHead;
import dev.warmpath.router.prompt.ReadRequest;
import dev.warmpath.router.routing.Score;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import java.util.Locale;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The answer of {@code POST /admin/explain}: how a request would be read, what each engine holds of
 * its prompt, what choosing it would cost, and who would win. Holds nothing of the prompt's text.
 *
 * <p>Confined to the asking thread.
 */
final class ExplainReport {

  private static final ObjectMapper JSON = new ObjectMapper();

  private ExplainReport() {}

  static ObjectNode of(
      AdminContext admin, RequestKind kind, byte[] body, @Nullable String session) {
    ReadRequest read = admin.prompts().readNow(kind, body);
    Explanation explanation =
        admin.dispatcher().explain(read.prepare(new RequestHead(session, 0, null)));
    ObjectNode root = JSON.createObjectNode();
    root.put("kind", kind.name().toLowerCase(Locale.ROOT));
    root.put("model", read.model());
    prompt(root.putObject("prompt"), read, explanation);
    root.put("policy", explanation.policy());
    root.put("winner", explanation.winner());
    root.put("reason", explanation.reason());
    ArrayNode engines = root.putArray("engines");
    explanation.engines().forEach(engine -> row(engines.addObject(), engine));
    ObjectNode passedOver = root.putObject("passedOver");
    new TreeMap<>(explanation.passedOver())
        .forEach((name, cause) -> passedOver.put(name, cause.label()));
    return root;
  }

  private static void prompt(ObjectNode to, ReadRequest read, Explanation explanation) {
    to.put("exact", explanation.fallback() == null);
    if (explanation.fallback() == null) {
      to.put("tokens", explanation.promptTokens());
    } else {
      to.put("reason", read.unread() == null ? explanation.fallback() : read.unread().label());
    }
    if (read.prompt() instanceof PromptResult.Inexact inexact) {
      to.put("detail", inexact.detail());
    }
  }

  private static void row(ObjectNode to, Explanation.Row engine) {
    to.put("engine", engine.engine());
    to.put("trust", engine.view().trust().name().toLowerCase(Locale.ROOT));
    to.put("matchedBlocks", engine.matchedBlocks());
    to.put("matchedTokens", engine.matchedTokens());
    to.put("expectedTokens", engine.expectedTokens());
    to.put("creditTokens", engine.creditTokens());
    if (engine.prediction().predicts()) {
      to.put("predictedCachedTokens", engine.prediction().cachedTokens());
    } else {
      to.putNull("predictedCachedTokens");
    }
    to.put("predictionBasis", engine.prediction().basis().label());
    to.put("requestsInFlight", engine.requestsInFlight());
    to.put("queuedPrefillTokens", engine.queuedTokens());
    to.put("score", engine.score().total());
    ObjectNode terms = to.putObject("terms");
    for (Score.Term term : engine.score().terms()) {
      terms.put(term.name(), term.value());
    }
  }
}
