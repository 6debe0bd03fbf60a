package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.template.limit.TemplateLimits;
import java.time.Clock;
import java.time.ZoneId;

/**
 * How the engine was started, as far as it changes what chats look like.
 *
 * <p>Immutable, if nobody changes the node.
 *
 * @param clock what templates take the date from; its zone must be the engine's
 * @param limits bounds of one render
 * @param defaultArguments {@code --default-chat-template-kwargs}
 * @param contentFormat {@code --chat-template-content-format}
 * @param excludesToolsWhenNone {@code --exclude-tools-when-tool-choice-none}
 */
public record ChatOptions(
    Clock clock,
    TemplateLimits limits,
    ObjectNode defaultArguments,
    ContentFormat contentFormat,
    boolean excludesToolsWhenNone) {

  /** How message content reaches the template. */
  public enum ContentFormat {
    /** As the template is found to want it. */
    AUTO,
    /** As one text. */
    STRING,
    /** As a list of parts. */
    OPENAI
  }

  /** What an engine without any of these options does, by the clock and zone of this machine. */
  public static ChatOptions defaults() {
    return new ChatOptions(
        Clock.system(ZoneId.systemDefault()),
        TemplateLimits.DEFAULT,
        JsonNodeFactory.instance.objectNode(),
        ContentFormat.AUTO,
        false);
  }
}
