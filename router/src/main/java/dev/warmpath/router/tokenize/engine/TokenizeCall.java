package dev.warmpath.router.tokenize.engine;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
    return ids(JSON.readTree(answer).path("tokens"));
  }

  /**
   * Whether the tokens of an answer are those that serving the request would have; a request alone
   * does not show which model it is for.
   */
  public static boolean isTrusted(RequestKind kind, int[] ids) {
    return kind != RequestKind.CHAT || ids.length == 0 || ids[0] != HARMONY_START;
  }

  /** A list of token ids; null if it is something else. */
  public static int @Nullable [] ids(JsonNode list) {
    if (!list.isArray()) {
      return null;
    }
    int[] ids = new int[list.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = list.get(i);
      if (!id.isInt() || id.intValue() < 0) {
        return null;
      }
      ids[i] = id.intValue();
    }
    return ids;
  }
}
