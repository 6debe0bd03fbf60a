package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.prompt.body.BodyFields;
import dev.warmpath.router.prompt.body.BodyParser;
import dev.warmpath.router.prompt.body.TreeRoom;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads a request's body: its model, its session and, with the model's tokenizer, its prompt. The
 * body is the engine's to judge: what cannot be read here is routed without its prompt.
 *
 * <p>Thread-safe.
 */
public final class PromptReader {

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

  /** Reads the body whole. */
  public ReadRequest read(RequestKind kind, byte[] body) {
    try (TreeRoom.Share share = trees.share()) {
      return read(kind, body, share);
    } catch (TreeRoom.FullException e) {
      return readWithoutPrompt(body, null, FallbackCause.NO_MEMORY);
    }
  }

  private ReadRequest read(RequestKind kind, byte[] body, TreeRoom.Share share) {
    if (!(parse(body, share) instanceof ObjectNode request)) {
      return readWithoutPrompt(body, null, FallbackCause.BAD_JSON);
    }
    Tokenizers.Choice choice = tokenizers.choose(model(request));
    ModelTokenizer tokenizer = choice == null ? null : choice.local().tokenizer();
    if (choice == null || tokenizer == null) {
      FallbackCause cause = choice == null ? FallbackCause.NO_TOKENIZER : choice.local().absent();
      return of(request, PromptResult.Inexact.of(cause), estimate(body));
    }
    PromptResult prompt = tokenizer.prompt(kind, request, choice.loraName());
    boolean known = prompt instanceof PromptResult.Tokens;
    return of(request, prompt, known ? 0 : estimate(body));
  }

  private static int estimate(byte[] body) {
    return BodyFields.of(body).estimatedTokens();
  }

  /**
   * Reads all but the prompt, building nothing: for when there is no time or need for it.
   *
   * @param contentType the request's, or null: JSON
   * @param cause why the prompt is not read; null if there is none to be read
   */
  public ReadRequest readWithoutPrompt(
      byte[] body, @Nullable String contentType, @Nullable FallbackCause cause) {
    BodyFields found = BodyFields.of(body, contentType);
    PromptResult prompt = cause == null ? null : PromptResult.Inexact.of(cause);
    return of(found.fields(), prompt, found.estimatedTokens());
  }

  /**
   * All models that a body may be read to name, those of the router's own aliases by their usual
   * names; none if it cannot be read.
   *
   * @param contentType the request's, or null: JSON
   */
  public Set<String> models(byte[] body, @Nullable String contentType) {
    Set<String> models = new LinkedHashSet<>();
    BodyFields.of(body, contentType).models().forEach(name -> models.add(modelOf(name)));
    return models;
  }

  /** The model that a name in a request means. */
  public String modelOf(String name) {
    return modelOf.apply(name);
  }

  private @Nullable String model(ObjectNode fields) {
    String name = text(fields, "model");
    return name == null ? null : modelOf.apply(name);
  }

  private ReadRequest of(ObjectNode fields, @Nullable PromptResult prompt, int estimatedTokens) {
    String session = text(fields, "session_id");
    return new ReadRequest(
        model(fields),
        prompt,
        session == null ? text(fields, "user") : session,
        BodyFields.isStreamed(fields),
        estimatedTokens,
        text(fields, "previous_response_id"),
        true);
  }

  private @Nullable JsonNode parse(byte[] body, TreeRoom.Share share) {
    try {
      return bodies.parse(body, share);
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable String text(ObjectNode request, String field) {
    JsonNode value = request.get(field);
    return value != null && value.isTextual() ? value.textValue() : null;
  }
}
