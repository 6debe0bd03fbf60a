package dev.warmpath.simulator;

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

  private static final ObjectMapper JSON = new ObjectMapper();
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

  /**
   * Writes the files.
   *
   * @param maxPixels larger images are made smaller
   */
  public static void write(Path model, int maxPixels) throws IOException {
    Files.writeString(model.resolve("tokenizer.json"), tokenizer());
    Files.writeString(model.resolve("chat_template.jinja"), TEMPLATE);
    Files.writeString(
        model.resolve("config.json"), "{\"architectures\": [\"Qwen2VLForConditionalGeneration\"]}");
    Files.writeString(
        model.resolve("preprocessor_config.json"),
        "{\"image_processor_type\": \"Qwen2VLImageProcessor\", \"patch_size\": 14,"
            + " \"max_pixels\": "
            + maxPixels
            + "}");
  }

  /** The embedded one, with the tokens of images. */
  private static String tokenizer() throws IOException {
    try (InputStream in =
        EmbeddedFiles.class.getResourceAsStream(
            "/dev/warmpath/tokenizer/embedded/tokenizer.json")) {
      ObjectNode tokenizer = (ObjectNode) JSON.readTree(Objects.requireNonNull(in));
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
