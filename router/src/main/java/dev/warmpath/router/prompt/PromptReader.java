package dev.warmpath.router.prompt;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.prompt.ReadRequest.Unread;
import dev.warmpath.router.prompt.body.BodyParser;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.body.ReportParameter;
import dev.warmpath.tokenizer.body.RequestNamespace;
import java.io.IOException;
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

  /**
   * Reads with these tokenizers.
   *
   * @param bodies parses bodies, and bounds their depth
   */
  public PromptReader(Tokenizers tokenizers, BodyParser bodies) {
    this.tokenizers = tokenizers;
    this.bodies = bodies;
  }

  /** Reads the body whole. */
  public ReadRequest read(RequestKind kind, byte[] body) {
    if (!(parse(body) instanceof ObjectNode request)) {
      return ReadRequest.without(null, body, Unread.BAD_JSON);
    }
    String model = text(request, "model");
    String session = session(request);
    ReportParameter report = ReportParameter.of(request);
    Tokenizers.Choice choice = tokenizers.choose(model);
    RequestNamespace namespace = RequestNamespace.of(request, isAdapter(choice));
    if (choice == null) {
      return new ReadRequest(model, null, session, namespace, report, Unread.NO_TOKENIZER);
    }
    ModelTokenizer tokenizer = choice.local().tokenizer();
    if (tokenizer == null) {
      return new ReadRequest(model, null, session, namespace, report, choice.local().absent());
    }
    PromptResult prompt = tokenizer.prompt(kind, request, choice.loraName());
    return new ReadRequest(model, prompt, session, namespace, report, null);
  }

  /** Reads only the model, without building anything: for when there is no time for the rest. */
  public ReadRequest readModel(byte[] body, Unread why) {
    return ReadRequest.without(model(body), body, why);
  }

  /** The model that the body names, or null. */
  @Nullable String model(byte[] body) {
    try (JsonParser parser = bodies.tokens(body)) {
      return model(parser);
    } catch (IOException e) {
      return null;
    }
  }

  /** A model that nobody knows may be an adapter. */
  private static boolean isAdapter(Tokenizers.@Nullable Choice choice) {
    return choice == null || choice.loraName() != null;
  }

  private static @Nullable String model(JsonParser parser) throws IOException {
    if (parser.nextToken() != JsonToken.START_OBJECT) {
      return null;
    }
    String found = null;
    while (parser.nextToken() == JsonToken.FIELD_NAME) {
      boolean isModel = parser.currentName().equals("model");
      JsonToken value = parser.nextToken();
      if (isModel) {
        found = value == JsonToken.VALUE_STRING ? parser.getText() : null;
      }
      parser.skipChildren();
    }
    return found;
  }

  private @Nullable JsonNode parse(byte[] body) {
    try {
      return bodies.parse(body);
    } catch (IOException e) {
      return null;
    }
  }

  private static @Nullable String session(ObjectNode request) {
    String session = text(request, "session_id");
    return session == null ? text(request, "user") : session;
  }

  private static @Nullable String text(ObjectNode request, String field) {
    JsonNode value = request.get(field);
    return value != null && value.isTextual() ? value.textValue() : null;
  }
}
