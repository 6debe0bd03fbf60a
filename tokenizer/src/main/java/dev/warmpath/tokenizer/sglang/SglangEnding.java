package dev.warmpath.tokenizer.sglang;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.Fields;
import dev.warmpath.tokenizer.body.InexactPromptException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What becomes of a chat whose last message is the assistant's. */
final class SglangEnding {

  private SglangEnding() {}

  /** Makes it the user's, or takes it away when it is empty and was to be continued. */
  static List<Map<String, @Nullable Object>> apply(
      List<Map<String, @Nullable Object>> messages, JsonNode continues) {
    Fields.require(
        continues.isMissingNode() || continues.isBoolean(),
        "continue_final_message",
        "true or false");
    int last = messages.size() - 1;
    Map<String, @Nullable Object> message = messages.get(last);
    if (!"assistant".equals(message.get("role")) || !(message.get("content") instanceof String)) {
      return messages;
    }
    if (continues.booleanValue()) {
      if (!"".equals(message.get("content"))) {
        throw new InexactPromptException(
            FallbackCause.TEMPLATE_UNSUPPORTED, "the last message's tokens stand on their own");
      }
      return messages.subList(0, last);
    }
    Map<String, @Nullable Object> user = new LinkedHashMap<>();
    user.put("role", "user");
    user.put("content", message.get("content"));
    messages.set(last, user);
    return messages;
  }
}
