package dev.warmpath.tokenizer;

import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
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
 * Encodes texts as the engine's tokenizer object does.
 *
 * <p>Thread-safe.
 */
final class PromptEncoder implements AutoCloseable {

  /** Completions are rare where chats are marked. */
  private static final int SHARE_OF_COMPLETIONS = 8;

  private final IncrementalEncoder texts;
  private final @Nullable IncrementalEncoder marked;
  private final AroundRule around;
  private final List<String> missingTokens;

  private PromptEncoder(
      IncrementalEncoder texts,
      @Nullable IncrementalEncoder marked,
      ModelFiles files,
      Dialect dialect) {
    this.texts = texts;
    this.marked = marked;
    this.around = AroundRule.of(files, dialect, texts.whole());
    this.missingTokens =
        files.configuredTokens().stream()
            .filter(token -> texts.whole().encode(token, false).length != 1)
            .toList();
  }

  /**
   * The encoder for these files.
   *
   * @param dialect whose tokenizer it is
   * @param markedIds the special tokens of marked texts, none if no texts are marked
   */
  static PromptEncoder of(ModelFiles files, Dialect dialect, int[] markedIds, EncodeBudget budget) {
    long hashSeed = new SecureRandom().nextLong();
    boolean marks = markedIds.length > 0;
    EncodeBudget ofTexts = ofTexts(budget, marks);
    EncodeBudget ofMarked = budget.without(ofTexts);
    IncrementalEncoder texts = IncrementalEncoder.of(files.tokenizer(), ofTexts, hashSeed);
    IncrementalEncoder marked = null;
    try {
      marked =
          marks
              ? IncrementalEncoder.marked(files.tokenizer(), markedIds, ofMarked, hashSeed)
              : null;
      return new PromptEncoder(texts, marked, files, dialect);
    } catch (RuntimeException | Error e) {
      close(texts, marked);
      throw e;
    }
  }

  private static EncodeBudget ofTexts(EncodeBudget all, boolean marks) {
    return marks ? all.part(SHARE_OF_COMPLETIONS) : all;
  }

  /** Remembers within another budget from now on. */
  void resize(EncodeBudget budget) {
    EncodeBudget ofTexts = ofTexts(budget, marked != null);
    texts.resize(ofTexts);
    if (marked != null) {
      marked.resize(budget.without(ofTexts));
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
    AroundTokens tokens = around.tokens();
    return tokens == null || tokens.count() > 0;
  }

  /** Whether all engines of the model add the same special tokens. */
  boolean knowsSpecialTokens() {
    return around.isKnown();
  }

  /** The text's tokens; null if it is not well-formed. */
  @Nullable EncodedText encode(String text, boolean addSpecialTokens) {
    if (!addSpecialTokens) {
      return texts.encode(text);
    }
    AroundTokens tokens = around.tokens();
    if (tokens == null) {
      return TextEncoder.isWellFormed(text) ? texts.wholeWithSpecialTokens(text) : null;
    }
    EncodedText encoded = texts.encode(text);
    return encoded == null ? null : encoded.with(tokens);
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
}
