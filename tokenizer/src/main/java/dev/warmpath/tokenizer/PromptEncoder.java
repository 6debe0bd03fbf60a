package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.encode.AddedSpecials;
import dev.warmpath.tokenizer.encode.EncodeBudget;
import dev.warmpath.tokenizer.encode.EncodeCounts;
import dev.warmpath.tokenizer.encode.EncodeGuard;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.encode.IncrementalEncoder;
import dev.warmpath.tokenizer.encode.TextEncoder;
import dev.warmpath.tokenizer.files.ModelFiles;
import java.security.SecureRandom;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Encodes texts as the engine's tokenizer object does.
 *
 * <p>Thread-safe.
 */
final class PromptEncoder implements AutoCloseable {

  /** Completions are rare where chats hold special tokens. */
  private static final int SHARE_OF_COMPLETIONS = 8;

  private final IncrementalEncoder texts;
  private final @Nullable IncrementalEncoder withSpecials;
  private final AddedSpecialsRule added;
  private final List<String> missingTokens;

  private PromptEncoder(
      IncrementalEncoder texts,
      @Nullable IncrementalEncoder withSpecials,
      ModelFiles files,
      Dialect dialect) {
    this.texts = texts;
    this.withSpecials = withSpecials;
    this.added = AddedSpecialsRule.of(files, dialect, texts.whole());
    this.missingTokens =
        files.configuredTokens().stream()
            .filter(token -> texts.whole().encode(token, false).length != 1)
            .toList();
  }

  /**
   * The encoder for these files.
   *
   * @param dialect whose tokenizer it is
   * @param specialIds the special tokens that texts of chats hold, none if they hold none
   */
  static PromptEncoder of(
      ModelFiles files, Dialect dialect, int[] specialIds, EncodeBudget budget) {
    long hashSeed = new SecureRandom().nextLong();
    boolean specials = specialIds.length > 0;
    EncodeBudget ofTexts = ofTexts(budget, specials);
    EncodeBudget ofSpecials = budget.without(ofTexts);
    IncrementalEncoder texts = IncrementalEncoder.of(files.tokenizer(), ofTexts, hashSeed);
    IncrementalEncoder withSpecials = null;
    try {
      withSpecials =
          specials
              ? IncrementalEncoder.withSpecials(files.tokenizer(), specialIds, ofSpecials, hashSeed)
              : null;
      return new PromptEncoder(texts, withSpecials, files, dialect);
    } catch (RuntimeException | Error e) {
      close(texts, withSpecials);
      throw e;
    }
  }

  private static EncodeBudget ofTexts(EncodeBudget all, boolean specials) {
    return specials ? all.part(SHARE_OF_COMPLETIONS) : all;
  }

  /** Remembers within another budget from now on. */
  void resize(EncodeBudget budget) {
    EncodeBudget ofTexts = ofTexts(budget, withSpecials != null);
    texts.resize(ofTexts);
    if (withSpecials != null) {
      withSpecials.resize(budget.without(ofTexts));
    }
  }

  /**
   * Whether {@code text} is free of tokens that {@code tokenizer_config.json} adds and {@code
   * tokenizer.json} does not have; the ids that the engine gives those are not known here.
   */
  boolean knowsAllTokensOf(String text) {
    return missingTokens.stream().noneMatch(text::contains);
  }

  /** Whether anything can be added to a text when special tokens are added. */
  boolean addsSpecialTokens() {
    AddedSpecials tokens = added.tokens();
    return tokens == null || tokens.count() > 0;
  }

  /** Whether all engines of the model add the same special tokens. */
  boolean knowsSpecialTokens() {
    return added.isKnown();
  }

  /** The text's tokens; null if it is not well-formed. */
  @Nullable EncodedText encode(String text, boolean addSpecialTokens, EncodeGuard guard) {
    if (!addSpecialTokens) {
      return texts.encode(text, guard);
    }
    AddedSpecials tokens = added.tokens();
    if (tokens == null) {
      return TextEncoder.isWellFormed(text) ? texts.wholeWithSpecialTokens(text, guard) : null;
    }
    EncodedText encoded = texts.encode(text, guard);
    return encoded == null ? null : encoded.with(tokens);
  }

  /** The tokens of a text with placeholders for special tokens. */
  EncodedText encodeWithSpecials(String text, EncodeGuard guard) {
    return Objects.requireNonNull(Objects.requireNonNull(withSpecials).encode(text, guard));
  }

  /** Where tokens came from so far, and what is remembered of texts. */
  EncodeCounts counts() {
    return withSpecials == null ? texts.counts() : texts.counts().and(withSpecials.counts());
  }

  /** The encoder of texts without anything added. */
  IncrementalEncoder texts() {
    return texts;
  }

  @Override
  public void close() {
    close(texts, withSpecials);
  }

  private static void close(IncrementalEncoder texts, @Nullable IncrementalEncoder withSpecials) {
    texts.close();
    if (withSpecials != null) {
      withSpecials.close();
    }
  }

  /**
   * Which special tokens an engine adds to the text of a completion.
   *
   * <p>transformers 5 ignores {@code add_bos_token} and {@code add_eos_token} of {@code
   * tokenizer_config.json} beside a {@code tokenizer.json}: the post-processor of that file
   * decides, and without one nothing is added. SGLang 0.5.23 obeys {@code add_bos_token} again for
   * some classes.
   *
   * @param isKnown false if the engines of the model add different tokens
   * @param tokens null if they are not the same for every text
   */
  private record AddedSpecialsRule(boolean isKnown, @Nullable AddedSpecials tokens) {

    /** For these the flag counts in SGLang, and is true where it is not given. */
    private static final Set<String> BOS_BY_FLAG =
        Set.of(
            "LlamaTokenizer",
            "LlamaTokenizerFast",
            "CodeLlamaTokenizer",
            "CodeLlamaTokenizerFast",
            "GemmaTokenizer",
            "GemmaTokenizerFast",
            "CohereTokenizerFast");

    static AddedSpecialsRule of(ModelFiles files, Dialect dialect, TextEncoder encoder) {
      AddedSpecials ofFile =
          files.tokenizer().hasPostProcessor() ? AddedSpecials.of(encoder) : AddedSpecials.NONE;
      if (dialect == Dialect.VLLM || !addsBosByFlag(files)) {
        return new AddedSpecialsRule(true, ofFile);
      }
      AddedSpecials bos = bos(files, encoder);
      boolean agree = ofFile != null && ofFile.equals(bos);
      return new AddedSpecialsRule(dialect == Dialect.SGLANG || agree, bos);
    }

    private static boolean addsBosByFlag(ModelFiles files) {
      JsonNode flag = files.config().path("add_bos_token");
      boolean obeyed = BOS_BY_FLAG.contains(files.config().path("tokenizer_class").asText());
      return obeyed && flag.asBoolean(true);
    }

    private static AddedSpecials bos(ModelFiles files, TextEncoder encoder) {
      @Nullable String bos = files.specialTokens().get("bos_token");
      return bos == null
          ? AddedSpecials.NONE
          : new AddedSpecials(encoder.encode(bos, false), new int[0]);
    }
  }
}
