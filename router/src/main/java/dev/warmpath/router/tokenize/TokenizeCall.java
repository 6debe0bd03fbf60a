package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An engine's {@code /tokenize}: which requests it cuts as it would serve them, and what it
 * answers.
 *
 * <p>Immutable.
 */
public final class TokenizeCall {

  public static final String PATH = "/tokenize";

  private static final String REASONING = "reasoning";
  private static final String OLD_REASONING = "reasoning_content";
  private static final int FEW_IDS = 256;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** Fields that change a prompt when it is served, and not when it is only cut. */
  private static final List<String> IGNORED_THERE =
      List.of(
          "documents",
          "reasoning_effort",
          "truncate_prompt_tokens",
          "echo",
          "prompt_embeds",
          "kv_transfer_params");

  /**
   * Begins a chat of gpt-oss. Its id in other vocabularies begins no chat.
   *
   * <p>vLLM serves such chats in the Harmony form ({@code OnlineRenderer.render_chat}, 0.32), but
   * cuts them at {@code /tokenize} by the template of the model's files.
   */
  private static final int HARMONY_START = 200_006;

  private TokenizeCall() {}

  /** Whether {@code /tokenize} makes of the request what serving it makes. */
  public static boolean fits(RequestKind kind, ObjectNode request) {
    if (kind != RequestKind.CHAT && kind != RequestKind.COMPLETION) {
      return false;
    }
    boolean plain = IGNORED_THERE.stream().noneMatch(request::hasNonNull);
    boolean toolsCount = !request.path("tool_choice").asText().equals("none");
    boolean oneText = kind == RequestKind.CHAT || request.path("prompt").isTextual();
    return plain && toolsCount && oneText && !request.has("add_special_tokens");
  }

  /**
   * The request as {@code /tokenize} has to be asked to see what serving it sees. In vLLM (0.32,
   * {@code ChatCompletionRequest}) only the chat route knows {@code reasoning_content}, the old
   * name of a message's {@code reasoning}; SGLang knows only that. So messages get both.
   */
  public static byte[] body(ObjectNode request) {
    boolean isOld = false;
    for (JsonNode message : request.path("messages")) {
      isOld |= message.hasNonNull(OLD_REASONING);
    }
    ObjectNode asked = isOld ? request.deepCopy() : request;
    if (isOld) {
      asked.path("messages").forEach(TokenizeCall::addNewName);
    }
    return asked.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static void addNewName(JsonNode message) {
    if (message.hasNonNull(OLD_REASONING) && !message.hasNonNull(REASONING)) {
      ((ObjectNode) message).set(REASONING, message.get(OLD_REASONING));
    }
  }

  /**
   * The token ids of an answer, null if it has none.
   *
   * @throws IOException for an answer that is no JSON
   */
  public static int @Nullable [] tokenIds(byte[] answer) throws IOException {
    return idsOf(answer, "tokens", "");
  }

  /**
   * The ids that the field {@code name} of an answer's object lists, which may be the only one of a
   * list. Builds no tree: an answer may hold millions.
   *
   * @param unless a field that must be null or absent
   * @return null if there are none
   */
  static int @Nullable [] idsOf(byte[] answer, String name, String unless) throws IOException {
    int[] found = null;
    try (JsonParser parser = JSON.createParser(answer)) {
      boolean isList = parser.nextToken() == JsonToken.START_ARRAY;
      if (isList) {
        parser.nextToken();
      }
      if (parser.currentToken() != JsonToken.START_OBJECT) {
        return null;
      }
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String field = parser.currentName();
        JsonToken value = parser.nextToken();
        if (field.equals(unless) && value != JsonToken.VALUE_NULL) {
          return null;
        } else if (field.equals(name)) {
          found = ids(parser);
        } else {
          parser.skipChildren();
        }
      }
      JsonToken end = parser.currentToken();
      boolean isOnly = !isList || parser.nextToken() == JsonToken.END_ARRAY;
      return end == JsonToken.END_OBJECT && isOnly ? found : null;
    }
  }

  /**
   * Whether the tokens of an answer are those that serving the request would have; a request alone
   * does not show which model it is for.
   */
  public static boolean isTrusted(RequestKind kind, int[] ids) {
    return kind != RequestKind.CHAT || ids.length == 0 || ids[0] != HARMONY_START;
  }

  /** The list of token ids that begins here; null if it is something else. */
  private static int @Nullable [] ids(JsonParser parser) throws IOException {
    if (parser.currentToken() != JsonToken.START_ARRAY) {
      parser.skipChildren();
      return null;
    }
    int[] ids = new int[FEW_IDS];
    int count = 0;
    boolean valid = true;
    while (parser.nextToken() != JsonToken.END_ARRAY) {
      valid &=
          parser.currentToken() == JsonToken.VALUE_NUMBER_INT
              && parser.getNumberType() == JsonParser.NumberType.INT
              && parser.getIntValue() >= 0;
      if (valid) {
        ids = count == ids.length ? Arrays.copyOf(ids, 2 * count) : ids;
        ids[count++] = parser.getIntValue();
      }
      parser.skipChildren();
    }
    return valid ? Arrays.copyOf(ids, count) : null;
  }
}
