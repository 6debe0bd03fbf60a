package dev.warmpath.tokenizer.chat;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.time.Clock;
import java.time.ZoneId;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Which engine it is and how it was started, as far as that changes what chats look like.
 *
 * <p>Immutable, if nobody changes the node.
 *
 * @param clock what templates take the date from; its zone must be the engine's
 * @param limits bounds of one render
 * @param dialect whose rules turn a request into what the template sees
 * @param templates which template is used, and how
 * @param harmony what stands in prompts of gpt-oss
 */
public record ChatOptions(
    Clock clock, TemplateLimits limits, Dialect dialect, Templates templates, Harmony harmony) {

  /** The engines, which all read requests their own way. */
  public enum Dialect {
    VLLM,
    SGLANG,
    /** Several of them serve one model: what they read differently is inexact. */
    MIXED
  }

  /** How message content reaches the template. */
  public enum ContentFormat {
    /** As the template is found to want it. */
    AUTO,
    /** As one text. */
    STRING,
    /** As a list of parts. */
    OPENAI
  }

  /**
   * The engine's start options about templates.
   *
   * @param file the text of {@code --chat-template}, which replaces all that the model has; or null
   * @param defaultArguments {@code --default-chat-template-kwargs}
   * @param contentFormat {@code --chat-template-content-format}
   * @param excludesToolsWhenNone {@code --exclude-tools-when-tool-choice-none}
   * @param trustsRequests {@code --trust-request-chat-template}
   * @param efforts {@code --reasoning-effort-map}
   */
  public record Templates(
      @Nullable String file,
      ObjectNode defaultArguments,
      ContentFormat contentFormat,
      boolean excludesToolsWhenNone,
      boolean trustsRequests,
      Map<String, String> efforts) {

    public Templates {
      efforts = Map.copyOf(efforts);
    }

    /** What an engine does that was given none of these options. */
    public static Templates defaults() {
      return new Templates(
          null, JsonNodeFactory.instance.objectNode(), ContentFormat.AUTO, false, false, Map.of());
    }

    /** The same with this {@code --exclude-tools-when-tool-choice-none}. */
    public Templates excludingToolsWhenNone(boolean excludes) {
      return new Templates(
          file, defaultArguments, contentFormat, excludes, trustsRequests, efforts);
    }

    /** The same with the text of a {@code --chat-template}. */
    public Templates withFile(String text) {
      return new Templates(
          text, defaultArguments, contentFormat, excludesToolsWhenNone, trustsRequests, efforts);
    }

    /** The same with this {@code --reasoning-effort-map}. */
    public Templates withEfforts(Map<String, String> others) {
      return new Templates(
          file, defaultArguments, contentFormat, excludesToolsWhenNone, trustsRequests, others);
    }

    /** What the engine makes of the effort that a request asks for; null is none. */
    public @Nullable String effort(@Nullable String asked) {
      return asked == null ? null : efforts.getOrDefault(asked, asked);
    }
  }

  /**
   * The engine's environment, as far as it shows in Harmony prompts.
   *
   * @param startDate {@code VLLM_SYSTEM_START_DATE}, any text; null if it is not set, so that the
   *     clock counts
   * @param instructsSystem {@code VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS}
   */
  public record Harmony(@Nullable String startDate, boolean instructsSystem) {

    /** Neither is set. */
    public static final Harmony UNSET = new Harmony(null, false);

    public Harmony {
      startDate = startDate == null || startDate.isEmpty() ? null : startDate;
    }
  }

  /** A vLLM without any of these options, by the clock and zone of this machine. */
  public static ChatOptions defaults() {
    return new ChatOptions(
        Clock.system(ZoneId.systemDefault()),
        TemplateLimits.DEFAULT,
        Dialect.VLLM,
        Templates.defaults(),
        Harmony.UNSET);
  }

  /** The same for another engine. */
  public ChatOptions with(Dialect other) {
    return new ChatOptions(clock, limits, other, templates, harmony);
  }

  /** The same with other templates. */
  public ChatOptions with(Templates others) {
    return new ChatOptions(clock, limits, dialect, others, harmony);
  }

  /** The same with another environment. */
  public ChatOptions with(Harmony other) {
    return new ChatOptions(clock, limits, dialect, templates, other);
  }

  /** The same by another clock. */
  public ChatOptions with(Clock other) {
    return new ChatOptions(other, limits, dialect, templates, harmony);
  }
}
