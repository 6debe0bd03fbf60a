package dev.warmpath.tokenizer.files;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The chat templates of a model, as text.
 *
 * <p>Immutable.
 *
 * @param named the tokenizer's templates by name; a single one is called {@code default}
 * @param processor the multimodal processor's own template, or null
 */
public record TemplateSources(Map<String, String> named, @Nullable String processor) {

  /** A model without a chat template. */
  public static final TemplateSources NONE = new TemplateSources(Map.of(), null);

  private static final String DEFAULT = "default";

  public TemplateSources {
    named = Map.copyOf(named);
  }

  /**
   * The template for a chat: without tools the processor's, if there is one; else the tokenizer's
   * {@code tool_use} for tools; else its default; null if the model has none.
   */
  public @Nullable String choose(boolean withTools) {
    if (!withTools && processor != null) {
      return processor;
    }
    if (withTools && named.containsKey("tool_use")) {
      return named.get("tool_use");
    }
    return named.get(DEFAULT);
  }

  static TemplateSources read(Path directory, ObjectNode config) {
    Map<String, String> named = new LinkedHashMap<>();
    putConfigured(named, config.path("chat_template"));
    Path jinja = directory.resolve("chat_template.jinja");
    putFile(named, DEFAULT, jinja);
    putFolder(named, directory.resolve("additional_chat_templates"));
    ObjectNode processor = ModelFiles.readObject(directory.resolve("chat_template.json"));
    String own = Files.exists(jinja) ? null : processor.path("chat_template").textValue();
    return new TemplateSources(named, own);
  }

  private static void putConfigured(Map<String, String> named, JsonNode template) {
    if (template.isTextual()) {
      named.put(DEFAULT, template.textValue());
    }
    for (JsonNode entry : template) {
      if (entry.path("name").isTextual() && entry.path("template").isTextual()) {
        named.put(entry.path("name").textValue(), entry.path("template").textValue());
      }
    }
  }

  private static void putFolder(Map<String, String> named, Path folder) {
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.jinja")) {
      for (Path file : files) {
        String name = String.valueOf(file.getFileName());
        putFile(named, name.substring(0, name.length() - ".jinja".length()), file);
      }
    } catch (IOException e) {
      throw new TokenizerLoadException(folder, "not readable: " + ModelFiles.brief(e), e);
    }
  }

  private static void putFile(Map<String, String> named, String name, Path file) {
    if (!Files.isRegularFile(file)) {
      return;
    }
    try {
      named.put(name, Files.readString(file));
    } catch (IOException e) {
      throw new TokenizerLoadException(
          file, "not readable as UTF-8 text: " + ModelFiles.brief(e), e);
    }
  }
}
