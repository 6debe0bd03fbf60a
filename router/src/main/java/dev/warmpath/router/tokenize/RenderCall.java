package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.RequestKind;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * vLLM's {@code …/render}: what a request's path is there, and what it answers: one object, or a
 * list of one, with {@code token_ids}.
 *
 * <p>Immutable.
 */
final class RenderCall {

  private static final ObjectMapper JSON = new ObjectMapper();

  private RenderCall() {}

  /** Null for messages, whose render there does not look at the model as serving it does. */
  public static @Nullable String path(RequestKind kind) {
    if (kind == RequestKind.CHAT) {
      return "/v1/chat/completions/render";
    }
    if (kind == RequestKind.RESPONSES) {
      return "/v1/responses/render";
    }
    return kind == RequestKind.COMPLETION ? "/v1/completions/render" : null;
  }

  /**
   * The client's request, asked to leave out what belongs to images.
   *
   * @throws IOException if it cannot be written as JSON
   */
  public static byte[] body(ObjectNode request) throws IOException {
    ObjectNode asked = JSON.createObjectNode();
    asked.setAll(request);
    asked.put("mm_payload", "none");
    return JSON.writeValueAsBytes(asked);
  }

  /**
   * The token ids; null if there are several prompts, images, or none.
   *
   * @throws IOException for an answer that is no JSON
   */
  public static int @Nullable [] tokenIds(byte[] answer) throws IOException {
    return TokenizeCall.idsOf(answer, "token_ids", "features");
  }
}
