package dev.warmpath.tokenizer.files;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.chat.ChatRenderer;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Finds the chat templates of a model, as text. */
final class TemplateSources {

  private static final String DEFAULT = "default";

  private TemplateSources() {}

  /**
   * The tokenizer's templates by name, a single one as {@code default}, and the multimodal
   * processor's own as {@value ChatRenderer#PROCESSOR}.
   */
  static Map<String, String> read(Path directory, ObjectNode config) {
    Map<String, String> named = new LinkedHashMap<>();
    putConfigured(named, config.path("chat_template"));
    Path jinja = directory.resolve("chat_template.jinja");
    putFile(named, DEFAULT, jinja);
    putFolder(named, directory.resolve("additional_chat_templates"));
    JsonNode processor = ModelFiles.readObject(directory.resolve("chat_template.json"));
    String own = processor.path("chat_template").textValue();
    if (own != null && !Files.exists(jinja)) {
      named.put(ChatRenderer.PROCESSOR, own);
    }
    return Map.copyOf(named);
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
