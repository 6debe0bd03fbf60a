package dev.warmpath.tokenizer.files;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.chat.ChatRenderer;
import dev.warmpath.tokenizer.encode.AddedToken;
import dev.warmpath.tokenizer.encode.TokenizerShape;
import dev.warmpath.tokenizer.image.ImageTokens;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The tokenizer files of one model.
 *
 * @param tokenizer {@code tokenizer.json}
 * @param config {@code tokenizer_config.json}, empty if there is none; not to be changed
 * @param specialTokens the special tokens by name ({@code bos_token}, …)
 * @param templates the sources of the chat templates by name
 * @param modelType {@code model_type} of {@code config.json}, or the empty string
 * @param architecture the model class that {@code config.json} names first, or the empty string
 * @param modelMaxTokenId the largest id that the model's own vocabulary size allows, or -1
 * @param foreignTokenizer whether the engine reads other tokenizer files than these
 * @param images what stands for images among the tokens; null if that is not known
 */
public record ModelFiles(
    TokenizerShape tokenizer,
    ObjectNode config,
    Map<String, String> specialTokens,
    Map<String, String> templates,
    String modelType,
    String architecture,
    int modelMaxTokenId,
    boolean foreignTokenizer,
    @Nullable ImageTokens images) {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  /** What is read of a directory; of the last only whether it is there. */
  private static final Set<String> NAMES =
      Set.of(
          "tokenizer.json",
          "tokenizer_config.json",
          "special_tokens_map.json",
          "chat_template.jinja",
          "chat_template.json",
          "config.json",
          "preprocessor_config.json",
          "processor_config.json",
          "tekken.json");

  private static final Pattern TEMPLATE =
      Pattern.compile("additional_chat_templates/[A-Za-z0-9_][\\w.-]*\\.jinja");

  /** Models whose chats the engine renders in code of its own. */
  private static final Set<String> RENDERED_IN_CODE =
      Set.of(
          "gpt_oss",
          "deepseek_v32",
          "deepseek_v4",
          "deepseek_v41",
          "kimi_k3",
          "kimi_audio",
          "inkling");

  /**
   * Reads a model directory, or a {@code tokenizer.json} alone.
   *
   * @throws TokenizerLoadException naming the file that is missing or wrong
   */
  public static ModelFiles read(Path directoryOrTokenizerJson) {
    if (!Files.exists(directoryOrTokenizerJson)) {
      throw new TokenizerLoadException(directoryOrTokenizerJson, "no such file or directory");
    }
    if (Files.isDirectory(directoryOrTokenizerJson)) {
      return readDirectory(directoryOrTokenizerJson);
    }
    return of(tokenizer(directoryOrTokenizerJson), emptyObject(), Map.of());
  }

  /** Whether a model directory's file of this name, with slashes, has a part in its tokens. */
  public static boolean reads(String name) {
    return NAMES.contains(name) || TEMPLATE.matcher(name).matches();
  }

  /** Files that come from elsewhere than a directory. */
  public static ModelFiles of(
      TokenizerShape tokenizer, ObjectNode config, Map<String, String> templates) {
    Map<String, String> special = SpecialTokens.named(config, emptyObject());
    return new ModelFiles(tokenizer, config, special, templates, "", "", -1, false, null);
  }

  /** Whether the engine makes this model's chats into tokens without its Jinja template. */
  public boolean rendersChatInCode() {
    return tokenizesElsewhere()
        || RENDERED_IN_CODE.contains(modelType)
        || modelType.startsWith("cohere")
        || modelType.startsWith("inkling");
  }

  /** Whether the engine tokenizes this model's texts by other means than these files. */
  public boolean tokenizesElsewhere() {
    return foreignTokenizer || config.path("split_special_tokens").asBoolean(false);
  }

  /** The tokens that the configuration names, which the engine adds where the file lacks them. */
  public Set<String> configuredTokens() {
    return SpecialTokens.configured(config, specialTokens);
  }

  private static ModelFiles readDirectory(Path directory) {
    Path tokenizer = directory.resolve("tokenizer.json");
    if (!Files.isRegularFile(tokenizer)) {
      throw new TokenizerLoadException(
          tokenizer, "missing; a model directory needs the fast tokenizer's file");
    }
    ObjectNode config = readObject(directory.resolve("tokenizer_config.json"));
    ObjectNode map = readObject(directory.resolve("special_tokens_map.json"));
    ObjectNode model = readObject(directory.resolve("config.json"));
    TokenizerShape shape = tokenizer(tokenizer);
    return new ModelFiles(
        shape,
        config,
        SpecialTokens.named(config, map),
        TemplateSources.read(directory, config),
        model.path("model_type").asText("").toLowerCase(Locale.ROOT),
        model.path("architectures").path(0).asText(""),
        vocabularySize(model) - 1,
        Files.exists(directory.resolve("tekken.json")),
        images(directory, model, shape));
  }

  private static @Nullable ImageTokens images(
      Path directory, ObjectNode model, TokenizerShape shape) {
    Map<String, Integer> added = new HashMap<>();
    for (AddedToken token : shape.addedTokens()) {
      added.put(token.content(), token.id());
    }
    return ImageTokens.of(
        model,
        readObject(directory.resolve("preprocessor_config.json")),
        readObject(directory.resolve("processor_config.json")),
        ImageTokens.ids(added, shape.vocabulary()));
  }

  private static TokenizerShape tokenizer(Path file) {
    try {
      return TokenizerShape.read(Files.readString(file));
    } catch (IllegalArgumentException e) {
      throw new TokenizerLoadException(file, String.valueOf(e.getMessage()), e);
    } catch (IOException e) {
      throw new TokenizerLoadException(file, "not readable as JSON: " + brief(e), e);
    }
  }

  private static int vocabularySize(ObjectNode model) {
    int own = model.path("vocab_size").asInt(0);
    return Math.max(own, model.path("text_config").path("vocab_size").asInt(0));
  }

  /** The JSON object in {@code file}, empty if there is no such file. */
  static ObjectNode readObject(Path file) {
    if (!Files.exists(file)) {
      return emptyObject();
    }
    try {
      JsonNode node = MAPPER.readTree(Files.readString(file));
      if (node instanceof ObjectNode object) {
        return object;
      }
      throw new TokenizerLoadException(file, "it holds no JSON object");
    } catch (IOException e) {
      throw new TokenizerLoadException(file, "not readable as JSON: " + brief(e), e);
    }
  }

  static ObjectNode emptyObject() {
    return MAPPER.createObjectNode();
  }

  /** The problem in one line, with its place and without a piece of the file. */
  static String brief(IOException e) {
    if (e instanceof JsonProcessingException json && json.getLocation() != null) {
      return json.getOriginalMessage() + " (line " + json.getLocation().getLineNr() + ")";
    }
    String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : message;
  }

  /** Reads the special tokens that templates may name from the tokenizer's configuration. */
  private static final class SpecialTokens {

    private static final List<String> NAMES =
        List.of(
            "bos_token",
            "eos_token",
            "unk_token",
            "sep_token",
            "pad_token",
            "cls_token",
            "mask_token");

    private SpecialTokens() {}

    /** The tokens by name; {@code map} fills in what {@code config} does not have. */
    static Map<String, String> named(ObjectNode config, ObjectNode map) {
      Map<String, String> tokens = new LinkedHashMap<>();
      for (String name : NAMES) {
        put(tokens, name, config.has(name) ? config.path(name) : map.path(name));
      }
      JsonNode extra = config.path("extra_special_tokens");
      extra.properties().forEach(entry -> put(tokens, entry.getKey(), entry.getValue()));
      return Map.copyOf(tokens);
    }

    /** All tokens that the configuration names in one way or another. */
    static Set<String> configured(ObjectNode config, Map<String, String> named) {
      Set<String> tokens = new TreeSet<>(named.values());
      addAll(tokens, config.path("added_tokens_decoder"));
      addAll(tokens, config.path("additional_special_tokens"));
      addAll(tokens, config.path("extra_special_tokens"));
      return tokens;
    }

    private static void addAll(Set<String> tokens, JsonNode list) {
      for (JsonNode token : list) {
        String content = content(token);
        if (content != null && !content.isEmpty()) {
          tokens.add(content);
        }
      }
    }

    private static void put(Map<String, String> tokens, String name, JsonNode token) {
      String content = content(token);
      if (content != null) {
        tokens.putIfAbsent(name, content);
      }
    }

    /** A token is written as a string, or as an object with its properties. */
    private static @Nullable String content(JsonNode token) {
      JsonNode content = token.isObject() ? token.path("content") : token;
      return content.isTextual() ? content.textValue() : null;
    }
  }

  /** Finds the chat templates of a model, as text. */
  private static final class TemplateSources {

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
}
