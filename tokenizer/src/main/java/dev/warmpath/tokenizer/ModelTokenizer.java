package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.encode.cache.EncodeBudget;
import dev.warmpath.tokenizer.encode.cache.EncodeCounts;
import dev.warmpath.tokenizer.encode.cut.Placement;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One model's tokenizer and template: a request's prompt becomes the token ids that the engine will
 * compute for it, or the reason why that cannot be known here.
 *
 * <p>Rendering and encoding take milliseconds for long prompts: call from a worker, not from an
 * event loop.
 *
 * <p>Thread-safe.
 */
public final class ModelTokenizer implements AutoCloseable {

  /** Tests try this tokenizer on many more. */
  private static final int EMBEDDED_CHECK_TEXTS = 20;

  private final RequestPrompts requests;
  private final PromptEncoder encoder;
  private final boolean encodesTexts;

  private ModelTokenizer(ModelFiles files, RequestPrompts requests, PromptEncoder encoder) {
    this.requests = requests;
    this.encoder = encoder;
    this.encodesTexts = !files.tokenizesElsewhere();
  }

  /**
   * Loads a model directory, or a {@code tokenizer.json} alone (which has no template, so that only
   * completions can be rendered).
   *
   * @throws TokenizerLoadException naming the file and what is wrong with it
   */
  public static ModelTokenizer load(Path directoryOrTokenizerJson) {
    return load(directoryOrTokenizerJson, ModelOptions.defaults());
  }

  /**
   * Loads as {@link #load(Path)} does, for an engine that was started with these options.
   *
   * @throws TokenizerLoadException naming the file and what is wrong with it
   */
  public static ModelTokenizer load(Path directoryOrTokenizerJson, ModelOptions options) {
    ModelFiles files = ModelFiles.read(directoryOrTokenizerJson);
    try {
      return of(files, options);
    } catch (IllegalArgumentException e) {
      Path file =
          Files.isDirectory(directoryOrTokenizerJson)
              ? directoryOrTokenizerJson.resolve("tokenizer.json")
              : directoryOrTokenizerJson;
      throw new TokenizerLoadException(file, String.valueOf(e.getMessage()), e);
    }
  }

  /** The project's own small tokenizer with a ChatML template; the simulated engines use it. */
  public static ModelTokenizer embedded() {
    return embedded(ModelOptions.defaults());
  }

  /** The same for an engine that was started with these options. */
  public static ModelTokenizer embedded(ModelOptions options) {
    EncodeBudget budget = new EncodeBudget(options.budget().bytes(), EMBEDDED_CHECK_TEXTS);
    return of(
        EmbeddedFiles.read(), new ModelOptions(options.chat(), options.maxModelTokens(), budget));
  }

  private static ModelTokenizer of(ModelFiles files, ModelOptions options) {
    RequestPrompts requests = RequestPrompts.of(files, options);
    PromptEncoder encoder =
        PromptEncoder.of(files, options.chat().dialect(), requests.specialIds(), options.budget());
    return new ModelTokenizer(files, requests, encoder);
  }

  /**
   * The prompt of the request {@code body}.
   *
   * @param loraName the adapter that the request's model name stands for, or null
   * @throws java.util.concurrent.CancellationException if the thread is interrupted before it is
   *     known; what has been remembered until then stays of use
   */
  public PromptResult prompt(RequestKind kind, ObjectNode body, @Nullable String loraName) {
    try {
      RequestPrompt prompt = requests.read(kind, body, loraName);
      Tokens tokens = tokens(prompt.content(), prompt.options(), prompt.keys());
      Tokens named = tokens.in(HiddenNamespace.extraKey(body));
      return PromptOptions.limitsLoads(body) ? named.onGpuOnly() : named;
    } catch (InexactPromptException e) {
      return Inexact.of(e);
    }
  }

  /**
   * The token ids of {@code text}; with special tokens what a completions request adds.
   *
   * @throws IllegalArgumentException if the text is not well-formed, or holds a part that cannot be
   *     cut and is too long
   */
  public int[] encode(String text, boolean addSpecialTokens) {
    EncodedText encoded = encoder.encode(text, addSpecialTokens);
    if (encoded == null) {
      throw new IllegalArgumentException("text holds half a surrogate pair");
    }
    return encoded.tokenIds();
  }

  /** The text of {@code tokenIds}, special tokens written out. */
  public String decode(int[] tokenIds) {
    return encoder.texts().whole().decode(tokenIds);
  }

  /** The largest token id that the engine takes. */
  public int maxTokenId() {
    return requests.maxTokenId();
  }

  /** Where texts are cut to be encoded, and why there. */
  public Placement placement() {
    return encoder.texts().placement();
  }

  /**
   * Whether the engine makes prompts of this kind in code of its own: its {@code /tokenize} would
   * use the model's template.
   */
  public boolean rendersInCode(RequestKind kind) {
    return requests.hasSpecials(kind);
  }

  /** Remembers texts within another budget from now on; keeps what fits. */
  public void resize(EncodeBudget budget) {
    encoder.resize(budget);
  }

  /** Where tokens came from so far, and what is remembered of texts. */
  public EncodeCounts encodeCounts() {
    return encoder.counts();
  }

  @Override
  public void close() {
    encoder.close();
  }

  private Tokens tokens(PromptContent content, PromptOptions options, PromptKeys keys) {
    if (content instanceof PromptContent.Texts texts) {
      return ofTexts(texts.texts(), options, keys);
    }
    if (content instanceof PromptContent.WithSpecials chat) {
      return ofEncoded(List.of(encoder.encodeWithSpecials(chat.text())), null, options, keys);
    }
    return finish(((PromptContent.TokenIds) content).sequences(), null, options, keys);
  }

  private Tokens ofTexts(List<String> texts, PromptOptions options, PromptKeys keys) {
    if (options.addSpecialTokens() && !encoder.knowsSpecialTokens()) {
      throw new InexactPromptException(
          FallbackCause.UNSUPPORTED_MODEL, "engines of several kinds add other special tokens");
    }
    List<EncodedText> encoded = new ArrayList<>(texts.size());
    for (String text : texts) {
      checkKnown(text);
      EncodedText one = encoder.encode(text, options.addSpecialTokens());
      if (one == null) {
        throw new InexactPromptException(
            FallbackCause.MALFORMED_TEXT, "the text holds half a surrogate pair");
      }
      encoded.add(one);
    }
    boolean cuts = encoded.stream().anyMatch(one -> one.count() > options.keepTokens());
    if (cuts && options.addSpecialTokens() && encoder.addsSpecialTokens()) {
      throw new InexactPromptException(
          FallbackCause.TRUNCATION, "truncation of a text with special tokens around it");
    }
    return ofEncoded(encoded, texts.size() == 1 ? texts.get(0) : null, options, keys);
  }

  private static Tokens ofEncoded(
      List<EncodedText> encoded, @Nullable String text, PromptOptions options, PromptKeys keys) {
    EncodedText only = encoded.get(0);
    boolean whole = encoded.size() == 1 && only.count() <= options.keepTokens();
    if (whole && only.count() > 0) {
      return new Tokens(keys, encoded, options.readsCache(), options.singleChoice(), text);
    }
    return finish(encoded.stream().map(EncodedText::tokenIds).toList(), text, options, keys);
  }

  private void checkKnown(String text) {
    if (!encodesTexts) {
      throw new InexactPromptException(
          FallbackCause.UNSUPPORTED_MODEL, "the engine reads other tokenizer files");
    }
    if (!encoder.knowsAllTokensOf(text)) {
      throw new InexactPromptException(
          FallbackCause.UNSUPPORTED_MODEL, "a token that only tokenizer_config.json has");
    }
  }

  private static Tokens finish(
      List<int[]> sequences, @Nullable String text, PromptOptions options, PromptKeys keys) {
    if (options.keepTokens() == PromptOptions.ENGINE_CHOICE) {
      throw new InexactPromptException(
          FallbackCause.TRUNCATION, "truncation to the engine's own limit");
    }
    if (sequences.stream().anyMatch(ids -> ids.length == 0)) {
      throw InexactPromptException.invalid("a prompt has no tokens");
    }
    List<int[]> kept = sequences.stream().map(ids -> keep(ids, options)).toList();
    boolean comparable = options.singleChoice() && kept.size() == 1;
    return new Tokens(kept, keys, options.readsCache(), comparable, text);
  }

  private static int[] keep(int[] ids, PromptOptions options) {
    if (ids.length <= options.keepTokens()) {
      return ids;
    }
    if (!options.cutKnown()) {
      throw new InexactPromptException(
          FallbackCause.TRUNCATION, "truncation to a limit that releases take differently");
    }
    int count = (int) options.keepTokens();
    int from = options.keepFirst() ? 0 : ids.length - count;
    return Arrays.copyOfRange(ids, from, from + count);
  }
}
