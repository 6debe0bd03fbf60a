package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.chat.ModelChats.Origin;
import dev.warmpath.tokenizer.image.ImageParts;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A chat request as vLLM 0.32 reads it for every model, before it is rendered.
 *
 * <p>Confined to its thread.
 */
public final class ChatRequest {
  private final ObjectNode body;
  private final Origin origin;
  private final TemplateArguments arguments;
  private final @Nullable Object tools;

  private ChatRequest(
      ObjectNode body, Origin origin, TemplateArguments arguments, @Nullable Object tools) {
    this.body = body;
    this.origin = origin;
    this.arguments = arguments;
    this.tools = tools;
  }

  /**
   * Reads arguments and tools.
   *
   * @throws dev.warmpath.tokenizer.body.InexactPromptException if the engine refuses them, or they
   *     are not known here
   */
  public static ChatRequest read(ObjectNode body, Origin origin, ChatOptions.Templates options) {
    TemplateArguments arguments = TemplateArguments.of(body, options);
    Object own = ToolReader.read(body, options.excludesToolsWhenNone(), origin != Origin.CLIENT);
    Object replaced = arguments.tools();
    return new ChatRequest(body, origin, arguments, replaced == null ? own : replaced);
  }

  /** What the request and the engine's defaults give to the template besides the chat. */
  public TemplateArguments arguments() {
    return arguments;
  }

  /** A list of maps, or null for no tools. */
  public @Nullable Object tools() {
    return tools;
  }

  /**
   * The messages, for the caller to change; their content is a list of parts, or else one text.
   *
   * @throws dev.warmpath.tokenizer.body.InexactPromptException if the engine refuses them, or they
   *     are not known here
   */
  public List<Map<String, @Nullable Object>> messages(boolean asParts) {
    return messages(asParts, ImageParts.none());
  }

  /** The same, with their images added to {@code images}. */
  public List<Map<String, @Nullable Object>> messages(boolean asParts, ImageParts images) {
    return new MessageReader(asParts, origin == Origin.BUILT, images).read(body);
  }
}
