package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.encode.AroundTokens;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.encode.IncrementalEncoder;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.encode.cache.EncodeBudget;
import dev.warmpath.tokenizer.encode.cache.EncodeCounts;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
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

  /** Completions are rare where chats are marked. */
  private static final int SHARE_OF_COMPLETIONS = 8;

  private final IncrementalEncoder texts;
  private final @Nullable IncrementalEncoder marked;
  private final @Nullable AroundTokens around;
  private final List<String> missingTokens;

  private PromptEncoder(
      IncrementalEncoder texts, @Nullable IncrementalEncoder marked, ModelFiles files) {
    this.texts = texts;
    this.marked = marked;
    this.around = around(files, texts.whole());
    this.missingTokens =
        files.configuredTokens().stream()
            .filter(token -> texts.whole().encode(token, false).length != 1)
            .toList();
  }

  /**
   * The encoder for these files.
   *
   * @param markedIds the special tokens of marked texts, none if no texts are marked
   */
  static PromptEncoder of(ModelFiles files, int[] markedIds, EncodeBudget budget) {
    long hashSeed = new SecureRandom().nextLong();
    boolean marks = markedIds.length > 0;
    EncodeBudget ofTexts = marks ? budget.part(SHARE_OF_COMPLETIONS) : budget;
    EncodeBudget ofMarked = budget.without(ofTexts);
    IncrementalEncoder texts = IncrementalEncoder.of(files.tokenizer(), ofTexts, hashSeed);
    IncrementalEncoder marked = null;
    try {
      marked =
          marks
              ? IncrementalEncoder.marked(files.tokenizer(), markedIds, ofMarked, hashSeed)
              : null;
      return new PromptEncoder(texts, marked, files);
    } catch (RuntimeException | Error e) {
      close(texts, marked);
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

  /** The tokens of a marked text. */
  EncodedText encodeMarked(String text) {
    return Objects.requireNonNull(Objects.requireNonNull(marked).encode(text));
  }

  /** Where tokens came from so far, and what is remembered of texts. */
  EncodeCounts counts() {
    return marked == null ? texts.counts() : texts.counts().and(marked.counts());
  }

  /** The encoder of texts without anything around them. */
  IncrementalEncoder texts() {
    return texts;
  }

  @Override
  public void close() {
    close(texts, marked);
  }

  private static void close(IncrementalEncoder texts, @Nullable IncrementalEncoder marked) {
    texts.close();
    if (marked != null) {
      marked.close();
    }
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
