package dev.warmpath.tokenizer.image;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/** A model directory of a Qwen2-VL with the embedded tokenizer. */
public final class ImageModel {

  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final List<String> TOKENS =
      List.of("<|vision_start|>", "<|vision_end|>", "<|image_pad|>");

  private static final String TEMPLATE =
      """
      {%- for message in messages %}{{ '<|im_start|>' + message.role + '\\n' }}
      {%- if message.content is string %}{{ message.content }}
      {%- else %}{%- for part in message.content %}
      {%- if part.type == 'image' %}{{ '<|vision_start|><|image_pad|><|vision_end|>' }}
      {%- else %}{{ part.text }}{%- endif %}
      {%- endfor %}{%- endif %}{{ '<|im_end|>\\n' }}{%- endfor %}
      {%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}\
      """;

  private ImageModel() {}

  /** Writes the files into {@code directory}, which is returned. */
  public static Path write(Path directory) throws IOException {
    Files.writeString(directory.resolve("tokenizer.json"), tokenizer());
    Files.writeString(directory.resolve("chat_template.jinja"), TEMPLATE);
    Files.writeString(
        directory.resolve("config.json"),
        "{\"architectures\": [\"Qwen2VLForConditionalGeneration\"], \"model_type\": \"qwen2_vl\"}");
    Files.writeString(
        directory.resolve("preprocessor_config.json"),
        "{\"image_processor_type\": \"Qwen2VLImageProcessor\", \"patch_size\": 14,"
            + " \"merge_size\": 2, \"min_pixels\": 3136, \"max_pixels\": 12845056}");
    return directory;
  }

  private static String tokenizer() throws IOException {
    try (InputStream in =
        EmbeddedFiles.class.getResourceAsStream(
            "/dev/warmpath/tokenizer/embedded/tokenizer.json")) {
      ObjectNode tokenizer = (ObjectNode) MAPPER.readTree(Objects.requireNonNull(in));
      ArrayNode added = (ArrayNode) tokenizer.required("added_tokens");
      int id = EmbeddedFiles.read().tokenizer().maxTokenId();
      for (String token : TOKENS) {
        added
            .addObject()
            .put("id", ++id)
            .put("content", token)
            .put("special", true)
            .put("normalized", false)
            .put("lstrip", false)
            .put("rstrip", false)
            .put("single_word", false);
      }
      return tokenizer.toString();
    }
  }
}
