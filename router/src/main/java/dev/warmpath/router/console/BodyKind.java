package dev.warmpath.router.console;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.router.proxy.Route;
import dev.warmpath.router.proxy.Routes;
import dev.warmpath.tokenizer.RequestKind;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds out for which path a body is: by what only that path's bodies have.
 *
 * <p>Immutable.
 */
final class BodyKind {

  /** Fields of a Messages request that no chat has. */
  private static final List<String> MESSAGES_FIELDS =
      List.of("system", "stop_sequences", "anthropic_version", "anthropic_beta", "mcp_servers");

  /** Content that only Messages requests have. */
  private static final Set<String> MESSAGES_BLOCKS =
      Set.of("tool_use", "tool_result", "redacted_thinking", "image", "document");

  private BodyKind() {}

  /** How bodies of {@code path} are read; null if it takes none. */
  static @Nullable RequestKind ofPath(String path) {
    return Routes.ALWAYS.find(path).map(Route::kind).orElse(null);
  }

  /** What the body looks like. A Messages request without a mark of its own counts as a chat. */
  static RequestKind guess(JsonNode body) {
    if (body.has("messages")) {
      return isMessages(body) ? RequestKind.MESSAGES : RequestKind.CHAT;
    }
    return body.has("input") ? RequestKind.RESPONSES : RequestKind.COMPLETION;
  }

  private static boolean isMessages(JsonNode body) {
    if (MESSAGES_FIELDS.stream().anyMatch(body::has)) {
      return true;
    }
    for (JsonNode tool : body.path("tools")) {
      if (tool.has("input_schema")) {
        return true;
      }
    }
    for (JsonNode message : body.path("messages")) {
      for (JsonNode block : message.path("content")) {
        if (MESSAGES_BLOCKS.contains(block.path("type").asText()) || block.has("cache_control")) {
          return true;
        }
      }
    }
    return false;
  }
}
