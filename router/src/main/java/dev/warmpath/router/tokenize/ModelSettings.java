package dev.warmpath.router.tokenize;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.router.config.BoundedRead;
import dev.warmpath.router.config.ConfigException;
import dev.warmpath.router.config.ModelConfig;
import dev.warmpath.router.config.YamlReader;
import dev.warmpath.tokenizer.ModelOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.ContentFormat;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.chat.ChatOptions.Templates;
import dev.warmpath.tokenizer.encode.EncodeBudget;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.ZoneId;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What a tokenizer is loaded from; models for which it is equal share one.
 *
 * <p>Immutable.
 *
 * @param place a path, a place on the hub or {@link #EMBEDDED}
 * @param rendering how the engine was started
 * @param dialect the kind of the engines that serve the model
 */
record ModelSettings(String place, ModelConfig.Rendering rendering, Dialect dialect) {

  static final String EMBEDDED = "embedded";

  private static final ObjectMapper JSON = new ObjectMapper();

  /**
   * Loads it, which takes seconds, and more if it must be downloaded.
   *
   * @param memoryBytes what it may remember of texts
   * @throws TokenizerLoadException naming the file and what is wrong with it
   */
  ModelTokenizer load(HubListener listener, long memoryBytes) {
    ModelOptions options = options().with(new EncodeBudget(memoryBytes, EncodeBudget.CHECK_TEXTS));
    if (place.equals(EMBEDDED)) {
      return ModelTokenizer.embedded(options);
    }
    Path files =
        HubPlace.isOne(place) ? HubFiles.ofTheMachine().find(place, listener) : Path.of(place);
    return ModelTokenizer.load(files, options);
  }

  /**
   * Where its files are; null if they come with the program or have to be downloaded.
   *
   * @throws TokenizerLoadException if the place cannot be one
   */
  @Nullable Path files() {
    if (place.equals(EMBEDDED)) {
      return null;
    }
    return HubPlace.isOne(place) ? HubFiles.ofTheMachine().cached(place) : Path.of(place);
  }

  ModelOptions options() {
    Clock clock =
        Clock.system(
            rendering.timeZone() == null
                ? ZoneId.systemDefault()
                : ZoneId.of(rendering.timeZone()));
    ChatOptions chat =
        new ChatOptions(
            clock,
            TemplateLimits.DEFAULT,
            dialect,
            new Templates(
                template(),
                arguments(),
                ContentFormat.valueOf(rendering.contentFormat().toUpperCase(Locale.ROOT)),
                rendering.excludeToolsWhenNone(),
                rendering.trustRequestTemplate(),
                efforts()),
            new Harmony(rendering.startDate(), rendering.harmonySystemInstructions()));
    return new ModelOptions(chat, rendering.maxModelLen());
  }

  private @Nullable String template() {
    String file = rendering.chatTemplate();
    if (file == null) {
      return null;
    }
    try {
      return YamlReader.text(BoundedRead.now(Path.of(file)), file);
    } catch (IOException | ConfigException e) {
      throw new TokenizerLoadException(
          Path.of(file), "the chat template cannot be read: " + e.getMessage(), e);
    }
  }

  private ObjectNode arguments() {
    return object("chat-template-kwargs", rendering.chatTemplateKwargs());
  }

  private Map<String, String> efforts() {
    String key = "reasoning-effort-map";
    Map<String, String> efforts = new HashMap<>();
    for (Map.Entry<String, JsonNode> effort :
        object(key, rendering.reasoningEffortMap()).properties()) {
      if (!effort.getValue().isTextual()) {
        throw new IllegalArgumentException(
            "'" + key + "' maps '" + effort.getKey() + "' to no text");
      }
      efforts.put(effort.getKey(), effort.getValue().textValue());
    }
    return efforts;
  }

  private static ObjectNode object(String key, @Nullable String text) {
    if (text == null) {
      return JsonNodeFactory.instance.objectNode();
    }
    try {
      JsonNode read = JSON.readTree(text);
      if (read instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("'" + key + "' is not JSON", e);
    }
    throw new IllegalArgumentException("'" + key + "' is no JSON object");
  }
}
