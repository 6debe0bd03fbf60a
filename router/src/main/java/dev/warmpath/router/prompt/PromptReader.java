package dev.warmpath.router.prompt;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.dispatch.PreparedRequest;
import dev.warmpath.router.dispatch.Prompt;
import dev.warmpath.router.dispatch.RoutingHints;
import dev.warmpath.router.prompt.ReadRequest.Renamed;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.encode.EncodeGuard;
import dev.warmpath.tokenizer.image.ImageNaming;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.Function;
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
  private final InferenceRules rules;
  private final Function<@Nullable String, ImageNaming> imageNames;
  private final ReadingTime withoutTokenizer = new ReadingTime();

  /**
   * Reads with these tokenizers.
   *
   * @param bodies parses bodies, and bounds their depth
   */
  public PromptReader(Tokenizers tokenizers, BodyParser bodies) {
    this(
        tokenizers,
        bodies,
        new TreeRoom(Long.MAX_VALUE),
        name -> name,
        new InferenceRules(new Random()),
        model -> ImageNaming.UNKNOWN);
  }

  /**
   * The same with models that have several names.
   *
   * @param trees what all bodies that are being read may take
   * @param modelOf the model that a name in a request means
   * @param rules for which model a request goes to an engine
   * @param imageNames how the engines that serve a model may name images; null for whatever they
   *     serve
   */
  public PromptReader(
      Tokenizers tokenizers,
      BodyParser bodies,
      TreeRoom trees,
      UnaryOperator<String> modelOf,
      InferenceRules rules,
      Function<@Nullable String, ImageNaming> imageNames) {
    this.tokenizers = tokenizers;
    this.bodies = bodies;
    this.trees = trees;
    this.modelOf = modelOf;
    this.rules = rules;
    this.imageNames = imageNames;
  }

  /** What the bodies that are being read take. */
  TreeRoom trees() {
    return trees;
  }

  /**
   * Reads the body whole.
   *
   * @param hints what the request's headers say, which goes before the body
   * @param work pays for the tree and what is made of it until it is closed, and goes on where an
   *     earlier call was stopped
   * @throws EncodeGuard.TooMuchException if it stops this one
   */
  ReadRequest read(RequestKind kind, byte[] body, RoutingHints hints, PromptWork work) {
    try {
      PromptWork.Parsed parsed = work.parsed() == null ? parse(body, hints, work) : work.parsed();
      if (parsed == null) {
        return readWithoutPrompt(body, null, hints, FallbackCause.BAD_JSON);
      }
      ObjectNode tree = parsed.tree();
      PromptResult prompt = prompt(kind, tree, work);
      boolean known = prompt instanceof PromptResult.Tokens;
      int estimate = known ? 0 : BodyFields.estimatedTokens(tree);
      boolean hasUnread = !known && prompt.images() == null && BodyFields.hasImages(tree);
      PreparedRequest request = request(tree, Prompt.of(prompt, hasUnread), estimate, hints);
      String previous = text(tree, PREVIOUS_RESPONSE);
      return new ReadRequest(request, previous, parsed.models(), tree, parsed.renamed());
    } catch (TreeRoom.FullException e) {
      return readWithoutPrompt(body, null, hints, FallbackCause.NO_MEMORY);
    }
  }

  /** Null if the body is no object. */
  private PromptWork.@Nullable Parsed parse(byte[] body, RoutingHints hints, PromptWork work) {
    NamedModels models = new NamedModels();
    if (!(parse(body, work.share(), models) instanceof ObjectNode tree)) {
      return null;
    }
    Renamed renamed = rename(tree, body, hints);
    PromptWork.Parsed parsed = new PromptWork.Parsed(tree, named(models.names(), hints), renamed);
    work.parsed(parsed);
    return parsed;
  }

  private PromptResult prompt(RequestKind kind, ObjectNode tree, PromptWork work) {
    Tokenizers.Choice choice = tokenizers.choose(model(tree));
    ModelTokenizer tokenizer = choice == null ? null : choice.local().tokenizer();
    if (choice == null || tokenizer == null) {
      work.estimate(tree, withoutTokenizer);
      return PromptResult.Inexact.of(
          choice == null ? FallbackCause.NO_TOKENIZER : choice.local().absent());
    }
    work.estimate(tree, choice.local().cost());
    return tokenizer.prompt(
        kind, tree, choice.loraName(), () -> imageNames.apply(model(tree)), work);
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
    boolean isForm = BodyFields.isForm(contentType);
    Renamed renamed = isForm ? null : rename(found.fields(), body, hints);
    PromptResult result = cause == null ? null : PromptResult.Inexact.of(cause);
    Prompt prompt = Prompt.of(result, found.hasImages());
    PreparedRequest request = request(found.fields(), prompt, found.estimatedTokens(), hints);
    String previous = text(found.fields(), PREVIOUS_RESPONSE);
    Set<String> named = isForm ? found.models() : named(found.models(), hints);
    return new ReadRequest(request, previous, named, null, renamed);
  }

  /** A client that names an engine's model in a header has to be allowed that one too. */
  private static Set<String> named(Set<String> models, RoutingHints hints) {
    if (hints.engineModel() == null) {
      return models;
    }
    Set<String> all = new LinkedHashSet<>(models);
    all.add(hints.engineModel());
    return all;
  }

  /** Puts the model that an engine is asked for into the fields, if it is not the client's. */
  private @Nullable Renamed rename(ObjectNode fields, byte[] body, RoutingHints hints) {
    String asked = text(fields, "model");
    if (asked == null) {
      return null;
    }
    String told = hints.engineModel();
    String given = told == null ? rules.rewritten(asked, session(fields, hints)) : told;
    if (given == null || given.equals(asked)) {
      return null;
    }
    RequestFields places = RequestFields.of(body);
    if (places == null) {
      return null;
    }
    fields.put("model", given);
    String json = fields.path("model").toString();
    return new Renamed(asked, given, places.edited(Set.of(), Map.of("model", json)));
  }

  private static @Nullable String session(ObjectNode fields, RoutingHints hints) {
    String session = hints.session() == null ? text(fields, "session_id") : hints.session();
    return session == null ? text(fields, "user") : session;
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
      ObjectNode fields, Prompt prompt, int estimatedTokens, RoutingHints hints) {
    return new PreparedRequest(
        model(fields),
        prompt,
        session(fields, hints),
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
