package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.router.dispatch.Choice;
import dev.warmpath.router.dispatch.Explanation;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.dispatch.UncachedTokens;
import dev.warmpath.router.prompt.RequestFields;
import dev.warmpath.router.prompt.Tokenizers;
import dev.warmpath.router.routing.Policies;
import dev.warmpath.router.routing.Policy;
import dev.warmpath.router.routing.Score;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The answers of {@code POST /admin/explain} and {@code GET /admin/decisions/ID/explain}: how a
 * request would be read, what each engine holds of its prompt, what choosing it would cost, and who
 * would win. The prompt's text is in them only block by block: of a request that was sent for that,
 * or of a decision with {@code admin.show-prompts}.
 *
 * <p>Confined to the asking thread.
 */
final class ExplainReport {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String FORGETFUL =
      "it remembers earlier choices, and was asked without them";

  private ExplainReport() {}

  /**
   * What is added to the plain answer.
   *
   * @param blocks each block of the prompt, with its text and who holds it
   * @param policies what other policies would do
   */
  record Detail(boolean blocks, boolean policies) {}

  static ObjectNode of(
      AdminContext admin, RequestKind kind, byte[] body, @Nullable String session, Detail detail) {
    PreparedRequest asked = admin.prompts().readNow(kind, body, new RoutingHints(session, 0, null));
    RequestFields fields = admin.dispatcher().transfers() ? RequestFields.of(body) : null;
    PreparedRequest whole = fields == null ? asked : asked.capping();
    PreparedRequest read = fields != null && fields.isForOneAnswer() ? whole.split() : whole;
    Explanation explanation = explain(admin, read, detail);
    ObjectNode root = JSON.createObjectNode();
    root.put("kind", kind.name().toLowerCase(Locale.ROOT));
    root.put("model", read.model());
    ObjectNode prompt = prompt(root, explanation);
    if (read.prompt().result() instanceof PromptResult.Inexact inexact
        && !inexact.detail().isEmpty()) {
      prompt.put("detail", inexact.detail());
    }
    choice(root, explanation, detail);
    if (detail.blocks()) {
      PromptResult.Tokens tokens = read.prompt().tokens();
      int[] ids = tokens == null ? null : tokens.first(Integer.MAX_VALUE);
      new ExplainedBlocks(ids, tokenizer(admin, read.model())).write(root, explanation);
    }
    return root;
  }

  /** A request that was decided, against what the engines hold now. */
  static ObjectNode of(AdminContext admin, KeptDecision decision, Detail detail) {
    PreparedRequest request = decision.request();
    Explanation explanation = explain(admin, request, detail);
    ObjectNode root = JSON.createObjectNode();
    root.set("decision", decision.json());
    root.put("model", request.model());
    prompt(root, explanation);
    choice(root, explanation, detail);
    ArrayNode then = root.putArray("enginesThen");
    Choice choice = decision.decision().choice();
    if (choice != null) {
      choice.scored().forEach(engine -> row(then.addObject(), engine));
    }
    if (detail.blocks()) {
      int[] ids = decision.tokenIds();
      ModelTokenizer tokenizer = ids == null ? null : tokenizer(admin, request.model());
      new ExplainedBlocks(ids, tokenizer).write(root, explanation);
    }
    return root;
  }

  private static Explanation explain(AdminContext admin, PreparedRequest request, Detail detail) {
    List<Policy> others =
        detail.policies()
            ? Policies.names().stream().map(name -> Policies.named(name, Map.of())).toList()
            : List.of();
    return admin.dispatcher().explain(request, others);
  }

  /** What the prompts of {@code model} are read with; null if nothing is. */
  static @Nullable ModelTokenizer tokenizer(AdminContext admin, @Nullable String model) {
    String read = admin.models().modelOf(model);
    Tokenizers.Local local = read == null ? null : admin.tokenizers().of(read);
    return local == null ? null : local.tokenizer();
  }

  private static ObjectNode prompt(ObjectNode to, Explanation explanation) {
    ObjectNode prompt = to.putObject("prompt");
    FallbackCause fallback = explanation.fallback();
    prompt.put("exact", fallback == null);
    return fallback == null
        ? prompt.put("tokens", explanation.promptTokens())
        : prompt.put("reason", fallback.label());
  }

  private static void choice(ObjectNode to, Explanation explanation, Detail detail) {
    to.put("policy", explanation.policy());
    to.put("winner", explanation.winner());
    to.put("reason", explanation.reason());
    to.put("runnerUp", explanation.runnerUp());
    Explanation.Pair pair = explanation.pair();
    if (pair != null) {
      ObjectNode split =
          to.putObject("split").put("prefill", pair.prefill()).put("decode", pair.decode());
      split.put("splits", pair.splits()).put("apartMs", pair.apartMillis());
      split.put("aloneMs", Double.isNaN(pair.aloneMillis()) ? null : pair.aloneMillis());
    }
    uncached(to, explanation.uncached());
    ArrayNode engines = to.putArray("engines");
    explanation.engines().forEach(engine -> row(engines.addObject(), engine));
    ObjectNode passedOver = to.putObject("passedOver");
    new TreeMap<>(explanation.passedOver())
        .forEach((name, cause) -> passedOver.put(name, cause.label()));
    if (detail.policies()) {
      ArrayNode others = to.putArray("otherPolicies");
      for (Explanation.Other other : explanation.others()) {
        others
            .addObject()
            .put("policy", other.policy())
            .put("winner", other.winner())
            .put("reason", other.reason())
            .put("note", other.remembers() ? FORGETFUL : null);
      }
    }
  }

  private static void uncached(ObjectNode to, @Nullable UncachedTokens tokens) {
    if (tokens != null) {
      ObjectNode causes = to.putObject("uncachedTokens");
      tokens.byLabel().forEach(causes::put);
    }
  }

  private static void row(ObjectNode to, Explanation.Row engine) {
    to.put("engine", engine.engine());
    to.put("trust", engine.view().trust().name().toLowerCase(Locale.ROOT));
    to.put("matchedBlocks", engine.matchedBlocks());
    to.put("matchedTokens", engine.matchedTokens());
    to.put("expectedTokens", engine.expectedTokens());
    to.put("creditTokens", engine.creditTokens());
    if (engine.pullsFrom() != null) {
      to.put("pullsFrom", engine.pullsFrom());
    }
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

  /**
   * Shows a prompt block by block: how long each is, its text if that may be shown, and which
   * engines would reuse it.
   *
   * <p>Immutable.
   */
  private static final class ExplainedBlocks {

    private static final int MOST_BLOCKS = 2_000;

    private final int @Nullable [] tokenIds;
    private final @Nullable ModelTokenizer tokenizer;

    /**
     * @param tokenIds null if they are not known, or not to be shown
     * @param tokenizer decodes them; null if there is none
     */
    ExplainedBlocks(int @Nullable [] tokenIds, @Nullable ModelTokenizer tokenizer) {
      this.tokenIds = tokenIds;
      this.tokenizer = tokenizer;
    }

    /** Adds {@code blocks} and {@code blocksLeftOut}. */
    void write(ObjectNode to, Explanation explanation) {
      ArrayNode list = to.putArray("blocks");
      BlockChain chain = explanation.blocks();
      if (chain == null) {
        to.put("blocksLeftOut", 0);
        return;
      }
      int size = chain.space().blockSizeTokens();
      int shown = Math.min(chain.blocks(), MOST_BLOCKS);
      for (int i = 0; i < shown; i++) {
        block(list.addObject(), i * size, (i + 1) * size, explanation.engines());
      }
      int end = shown * size;
      if (shown == chain.blocks() && end < chain.promptTokens()) {
        block(list.addObject(), end, chain.promptTokens(), List.of());
      }
      to.put("blocksLeftOut", chain.blocks() - shown);
    }

    private void block(ObjectNode to, int from, int end, List<Explanation.Row> engines) {
      to.put("tokens", end - from);
      to.put("text", text(from, end));
      ArrayNode holders = to.putArray("holders");
      for (Explanation.Row engine : engines) {
        if (engine.matchedTokens() >= end) {
          holders.add(engine.engine());
        }
      }
    }

    private @Nullable String text(int from, int end) {
      if (tokenIds == null || tokenizer == null || from >= tokenIds.length) {
        return null;
      }
      int[] ids = Arrays.copyOfRange(tokenIds, from, Math.min(end, tokenIds.length));
      boolean isText = Arrays.stream(ids).allMatch(id -> id >= 0 && id <= tokenizer.maxTokenId());
      return isText ? tokenizer.decode(ids) : null; // SGLang's ids of images are no tokens
    }
  }
}
