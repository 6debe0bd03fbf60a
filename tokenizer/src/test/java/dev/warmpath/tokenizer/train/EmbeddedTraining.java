package dev.warmpath.tokenizer.train;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** How the embedded {@code tokenizer.json} is made from the corpus in this module. */
public final class EmbeddedTraining {

  private static final int MAX_VOCABULARY = 4_000;

  private static final List<String> SPECIAL_TOKENS =
      List.of("<|endoftext|>", "<|im_start|>", "<|im_end|>");

  private EmbeddedTraining() {}

  /** The content that the embedded {@code tokenizer.json} must have. */
  public static String tokenizerJson() {
    return TokenizerFile.of(BpeTrainer.train(corpus(), MAX_VOCABULARY), SPECIAL_TOKENS);
  }

  /** Writes the file anew after the corpus has changed. */
  public static void main(String[] args) throws IOException {
    if (args.length != 1) {
      throw new IllegalArgumentException("one argument expected: the tokenizer.json to write");
    }
    Files.writeString(Path.of(args[0]), tokenizerJson());
  }

  private static String corpus() {
    try (InputStream in = EmbeddedTraining.class.getResourceAsStream("corpus.txt")) {
      if (in == null) {
        throw new IllegalStateException("corpus.txt is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
