package dev.warmpath.tokenizer.files;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.tokenizer.encode.TokenizerShape;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/**
 * The tokenizer that comes with the program: a small byte-level BPE trained on the project's own
 * text, with a ChatML template.
 */
public final class EmbeddedFiles {

  private static final String FOLDER = "/dev/warmpath/tokenizer/embedded/";

  private EmbeddedFiles() {}

  /** The files, read from the class path. */
  public static ModelFiles read() {
    try {
      ObjectNode config = (ObjectNode) new ObjectMapper().readTree(text("tokenizer_config.json"));
      Map<String, String> template = Map.of("default", text("chat_template.jinja"));
      TokenizerShape tokenizer = TokenizerShape.read(text("tokenizer.json"));
      return ModelFiles.of(tokenizer, config, template);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String text(String name) throws IOException {
    try (InputStream in = EmbeddedFiles.class.getResourceAsStream(FOLDER + name)) {
      if (in == null) {
        throw new IllegalStateException("not on the class path: " + FOLDER + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
