package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.fleet.dispatch.PreparedRequest;
import dev.warmpath.router.fleet.dispatch.RoutingHints;
import dev.warmpath.router.fleet.match.Prompt;
import dev.warmpath.router.prompt.body.BodyFields;
import dev.warmpath.router.prompt.body.BodyParser;
import dev.warmpath.router.prompt.body.NamedModels;
import dev.warmpath.router.prompt.body.TreeRoom;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.io.IOException;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's body: its model, its session and, with the model's tokenizer, its prompt. The
 * body is the engine's to judge: what cannot be read here is routed without its prompt.
 *
 * <p>Thread-safe.
 */
public final class PromptReader {

  private static final String PREVIOUS_RESPONSE = "previous_response_id";

  private final Tokenizers tokenizers;
  private final BodyParser bodies;
  private final TreeRoom trees;
  private final UnaryOperator<String> modelOf;

  /**
   * Reads with these tokenizers.
   *
   * @param bodies parses bodies, and bounds their depth
   */
  public PromptReader(Tokenizers tokenizers, BodyParser bodies) {
    this(tokenizers, bodies, new TreeRoom(Long.MAX_VALUE), name -> name);
  }

  /**
   * The same with models that have several names.
   *
   * @param trees what all bodies that are being read may take
   * @param modelOf the model that a name in a request means
   */
  public PromptReader(
      Tokenizers tokenizers, BodyParser bodies, TreeRoom trees, UnaryOperator<String> modelOf) {
    this.tokenizers = tokenizers;
    this.bodies = bodies;
    this.trees = trees;
    this.modelOf = modelOf;
  }

  /** What the bodies that are being read take. */
  TreeRoom trees() {
    return trees;
  }

  /**
   * Reads the body whole.
   *
   * @param hints what the request's headers say, which goes before the body
   * @param share pays for the tree and what is made of it, until it is closed
   */
  ReadRequest read(RequestKind kind, byte[] body, RoutingHints hints, TreeRoom.Share share) {
    try {
      NamedModels models = new NamedModels();
      if (parse(body, share, models) instanceof ObjectNode tree) {
        PromptResult prompt = prompt(kind, tree);
        boolean known = prompt instanceof PromptResult.Tokens;
        int estimate = known ? 0 : BodyFields.estimatedTokens(tree);
        PreparedRequest request = request(tree, prompt, estimate, hints);
        return new ReadRequest(request, text(tree, PREVIOUS_RESPONSE), models.names(), tree);
      }
      return readWithoutPrompt(body, null, hints, FallbackCause.BAD_JSON);
    } catch (TreeRoom.FullException e) {
      return readWithoutPrompt(body, null, hints, FallbackCause.NO_MEMORY);
    }
  }

  private PromptResult prompt(RequestKind kind, ObjectNode tree) {
    Tokenizers.Choice choice = tokenizers.choose(model(tree));
    if (choice == null) {
      return PromptResult.Inexact.of(FallbackCause.NO_TOKENIZER);
    }
    ModelTokenizer tokenizer = choice.local().tokenizer();
    return tokenizer == null
        ? PromptResult.Inexact.of(choice.local().absent())
        : tokenizer.prompt(kind, tree, choice.loraName());
  }

  /**
   * Reads all but the prompt, building nothing: for when there is no time or need for it.
   *
   * @param contentType the request's, or null: JSON
   * @param cause why the prompt is not read; null if there is none to be read
   */
  ReadRequest readWithoutPrompt(
      byte[] body,
      @Nullable String contentType,
      RoutingHints hints,
      @Nullable FallbackCause cause) {
    BodyFields found = BodyFields.of(body, contentType);
    PromptResult prompt = cause == null ? null : PromptResult.Inexact.of(cause);
    PreparedRequest request = request(found.fields(), prompt, found.estimatedTokens(), hints);
    String previous = text(found.fields(), PREVIOUS_RESPONSE);
    return new ReadRequest(request, previous, found.models(), null);
  }

  /** The model that a name in a request means. */
  public String modelOf(String name) {
    return modelOf.apply(name);
  }

  private @Nullable String model(ObjectNode fields) {
    String name = text(fields, "model");
    return name == null ? null : modelOf.apply(name);
  }

  private PreparedRequest request(
      ObjectNode fields, @Nullable PromptResult prompt, int estimatedTokens, RoutingHints hints) {
    String session = hints.session() == null ? text(fields, "session_id") : hints.session();
    return new PreparedRequest(
        model(fields),
        Prompt.of(prompt),
        session == null ? text(fields, "user") : session,
        BodyFields.isStreamed(fields),
        estimatedTokens,
        hints.priority(),
        hints.client());
  }

  private @Nullable JsonNode parse(byte[] body, TreeRoom.Share share, NamedModels models) {
    try {
      return bodies.parse(body, share, models);
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable String text(ObjectNode request, String field) {
    JsonNode value = request.get(field);
    return value != null && value.isTextual() ? value.textValue() : null;
  }
}
