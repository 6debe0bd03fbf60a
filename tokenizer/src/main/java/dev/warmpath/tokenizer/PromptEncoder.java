package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.AroundTokens;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.encode.IncrementalEncoder;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.encode.cache.EncodeBudget;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.security.SecureRandom;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes texts as the engine's tokenizer object does, which follows {@code tokenizer_config.json}
 * over {@code tokenizer.json} in what it adds around a text.
 *
 * <p>Thread-safe.
 */
final class PromptEncoder implements AutoCloseable {

  /*
   * add_bos_token and add_eos_token, either of them given, replace the file's post-processor; the
   * one not given counts as false. Without them a file that has a post-processor keeps it, and a
   * file without one adds nothing.
   */
  private static final int[] NOTHING = {};

  private final IncrementalEncoder texts;
  private final @Nullable AroundTokens around;
  private final List<String> missingTokens;

  private PromptEncoder(IncrementalEncoder texts, ModelFiles files) {
    this.texts = texts;
    this.around = around(files, texts.whole());
    this.missingTokens =
        files.configuredTokens().stream()
            .filter(token -> texts.whole().encode(token, false).length != 1)
            .toList();
  }

  /** The encoder for these files. */
  static PromptEncoder of(ModelFiles files, EncodeBudget budget) {
    long hashSeed = new SecureRandom().nextLong();
    IncrementalEncoder texts = IncrementalEncoder.of(files.tokenizer(), budget, hashSeed);
    try {
      return new PromptEncoder(texts, files);
    } catch (RuntimeException | Error e) {
      texts.close();
      throw e;
    }
  }

  /**
   * Whether {@code text} is free of tokens that {@code tokenizer_config.json} adds and {@code
   * tokenizer.json} does not have; the ids that the engine gives those are not known here.
   */
  boolean knowsAllTokensOf(String text) {
    return missingTokens.stream().noneMatch(text::contains);
  }

  /** Whether anything can stand around a text when special tokens are added. */
  boolean addsSpecialTokens() {
    return around == null || around.count() > 0;
  }

  /** The text's tokens; null if it is not well-formed. */
  @Nullable EncodedText encode(String text, boolean addSpecialTokens) {
    if (!addSpecialTokens) {
      return texts.encode(text);
    }
    if (around == null) {
      return TextEncoder.isWellFormed(text) ? texts.wholeWithSpecialTokens(text) : null;
    }
    EncodedText encoded = texts.encode(text);
    return encoded == null ? null : encoded.with(around);
  }

  /** The encoder of texts without anything around them. */
  IncrementalEncoder texts() {
    return texts;
  }

  @Override
  public void close() {
    texts.close();
  }

  /** What is put around; null if it is not the same around every text. */
  private static @Nullable AroundTokens around(ModelFiles files, TextEncoder encoder) {
    if (files.config().has("add_bos_token") || files.config().has("add_eos_token")) {
      return new AroundTokens(
          added(files, encoder, "add_bos_token", "bos_token"),
          added(files, encoder, "add_eos_token", "eos_token"));
    }
    return files.tokenizer().hasPostProcessor() ? AroundTokens.of(encoder) : AroundTokens.NONE;
  }

  private static int[] added(ModelFiles files, TextEncoder encoder, String flag, String name) {
    JsonNode asked = files.config().path(flag);
    @Nullable String token = files.specialTokens().get(name);
    if (!asked.asBoolean(false) || token == null) {
      return NOTHING;
    }
    return encoder.encode(token, false);
  }
}
