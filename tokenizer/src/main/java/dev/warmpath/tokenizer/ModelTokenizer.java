package dev.warmpath.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.body.FallbackCause;
import dev.warmpath.tokenizer.body.HiddenNamespace;
import dev.warmpath.tokenizer.body.InexactPromptException;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.encode.CutPlan;
import dev.warmpath.tokenizer.encode.EncodeBudget;
import dev.warmpath.tokenizer.encode.EncodeCounts;
import dev.warmpath.tokenizer.encode.EncodeGuard;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import dev.warmpath.tokenizer.image.ImageMemory;
import dev.warmpath.tokenizer.image.ImageNaming;
import dev.warmpath.tokenizer.image.ImageParts;
import dev.warmpath.tokenizer.image.LearnedImages;
import dev.warmpath.tokenizer.image.PlacedImages;
import dev.warmpath.tokenizer.image.PromptImages;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One model's tokenizer and template: a request's prompt becomes the token ids that the engine will
 * compute for it, or the reason why that cannot be known here.
 *
 * <p>Rendering and encoding take milliseconds for long prompts: call from a worker, or with a guard
 * that knows when it is too much for an event loop.
 *
 * <p>Thread-safe.
 */
public final class ModelTokenizer implements AutoCloseable {

  /** Tests try this tokenizer on many more. */
  private static final int EMBEDDED_CHECK_TEXTS = 20;

  /** Tokens of a chat with images where it is not known how many the model takes. */
  private static final long MOST_WITH_IMAGES = 1 << 21;

  /** Fields of a request that change what engines make of its images. */
  private static final Map<Dialect, List<String>> IMAGE_OPTIONS =
      Map.of(
          Dialect.VLLM, List.of("mm_processor_kwargs", "media_io_kwargs"),
          Dialect.SGLANG,
              List.of("images_config", "max_dynamic_patch", "min_dynamic_patch", "mm_hashes"));

  private final Map<RequestKind, ChatTexts> chats;
  private final Dialect dialect;
  private final long maxModelTokens;
  private final int maxTokenId;
  private final boolean encodesTexts;
  private final PromptEncoder encoder;
  private final PromptImages images;

  private ModelTokenizer(ModelFiles files, ModelOptions options) {
    this.chats = ChatPrompts.of(files, options.chat());
    this.dialect = options.chat().dialect();
    this.maxModelTokens = options.maxModelTokens();
    this.maxTokenId = Math.max(files.tokenizer().maxTokenId(), files.modelMaxTokenId());
    this.encodesTexts = !files.tokenizesElsewhere();
    this.encoder = PromptEncoder.of(files, dialect, specialIds(chats), options.budget());
    this.images =
        new PromptImages(
            dialect == Dialect.MIXED ? null : files.images(),
            dialect == Dialect.SGLANG,
            new ImageMemory(imageBytes(options.budget()), new SecureRandom().nextLong()),
            new LearnedImages(imageBytes(options.budget())));
  }

  /** Images take little, and nothing where nothing is to be remembered. */
  private static long imageBytes(EncodeBudget budget) {
    return budget.bytes() == 0 ? 0 : ImageMemory.USUAL_BYTES;
  }

  /** The special tokens that texts of chats hold, none if they hold none. */
  private static int[] specialIds(Map<RequestKind, ChatTexts> chats) {
    return chats.values().stream()
        .map(ChatTexts::specialIds)
        .filter(ids -> ids.length > 0)
        .findFirst()
        .orElse(ChatTexts.NO_SPECIALS);
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
      return new ModelTokenizer(files, options);
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
    return new ModelTokenizer(
        EmbeddedFiles.read(), new ModelOptions(options.chat(), options.maxModelTokens(), budget));
  }

  /**
   * The prompt of the request {@code body}.
   *
   * @param loraName the adapter that the request's model name stands for, or null
   * @throws java.util.concurrent.CancellationException if the thread is interrupted before it is
   *     known; what has been remembered until then stays of use
   */
  public PromptResult prompt(RequestKind kind, ObjectNode body, @Nullable String loraName) {
    return prompt(kind, body, loraName, EncodeGuard.NONE);
  }

  /** The same for engines that name images like this. */
  public PromptResult prompt(
      RequestKind kind, ObjectNode body, @Nullable String loraName, ImageNaming naming) {
    return prompt(kind, body, loraName, () -> naming, EncodeGuard.NONE);
  }

  /**
   * The same as long as {@code guard} lets the encoding go on; images have no names.
   *
   * @throws EncodeGuard.TooMuchException if it does not
   */
  public PromptResult prompt(
      RequestKind kind, ObjectNode body, @Nullable String loraName, EncodeGuard guard) {
    return prompt(kind, body, loraName, () -> ImageNaming.UNKNOWN, guard);
  }

  /**
   * The same as long as {@code guard} lets the encoding go on, for engines that name images like
   * this.
   *
   * @param naming asked for a chat with images
   * @throws EncodeGuard.TooMuchException if it does not
   */
  public PromptResult prompt(
      RequestKind kind,
      ObjectNode body,
      @Nullable String loraName,
      Supplier<ImageNaming> naming,
      EncodeGuard guard) {
    try {
      PromptOptions options = options(kind, body).within(maxModelTokens, kind, body);
      HiddenNamespace.check(body);
      PromptKeys keys = new PromptKeys(loraName, options.cacheSalt());
      PromptResult prompt =
          kind == RequestKind.COMPLETION
              ? completion(body, options, keys, guard)
              : chat(kind, body, options, keys, naming, guard);
      return prompt instanceof Tokens tokens ? tokens.askedBy(body) : prompt;
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
    EncodedText encoded = encoder.encode(text, addSpecialTokens, EncodeGuard.NONE);
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
    return maxTokenId;
  }

  /** Where texts are cut to be encoded, and why there. */
  public CutPlan placement() {
    return encoder.texts().placement();
  }

  /**
   * Whether the engine makes prompts of this kind in code of its own: its {@code /tokenize} would
   * use the model's template.
   */
  public boolean rendersInCode(RequestKind kind) {
    return kind != RequestKind.COMPLETION && texts(kind).specialIds().length > 0;
  }

  /** The images of its chats. */
  public PromptImages images() {
    return images;
  }

  /** Remembers texts within another budget from now on; keeps what fits. */
  public void resize(EncodeBudget budget) {
    encoder.resize(budget);
    images.resize(imageBytes(budget));
  }

  /** Where tokens came from so far, and what is remembered of texts. */
  public EncodeCounts encodeCounts() {
    return encoder.counts();
  }

  @Override
  public void close() {
    encoder.close();
  }

  private PromptOptions options(RequestKind kind, ObjectNode body) {
    PromptOptions options = ofTexts(kind, body);
    return rendersInCode(kind) ? options.withSpecials(kind) : options;
  }

  private PromptOptions ofTexts(RequestKind kind, ObjectNode body) {
    boolean sglang = dialect == Dialect.SGLANG && kind != RequestKind.COMPLETION;
    if (sglang || kind == RequestKind.MESSAGES) {
      return PromptOptions.readWhole(kind, body);
    }
    return kind == RequestKind.RESPONSES
        ? PromptOptions.readResponses(body)
        : PromptOptions.read(kind, body);
  }

  private ChatTexts texts(RequestKind kind) {
    return Objects.requireNonNull(chats.get(kind));
  }

  private PromptResult chat(
      RequestKind kind,
      ObjectNode body,
      PromptOptions options,
      PromptKeys keys,
      Supplier<ImageNaming> naming,
      EncodeGuard guard) {
    if (body.path("kv_transfer_params").hasNonNull("prompt_token_ids")) {
      throw new InexactPromptException(
          FallbackCause.KV_TRANSFER, "kv_transfer_params has prompt_token_ids");
    }
    ImageParts parts = images.parts();
    String text = texts(kind).render(body, parts);
    if (rendersInCode(kind)) {
      return ofEncoded(List.of(encoder.encodeWithSpecials(text, guard)), null, options, keys);
    }
    Tokens tokens = ofTexts(List.of(text), options, keys, guard);
    return parts.isEmpty() ? tokens : withImages(tokens, parts, body, options, naming, guard);
  }

  private PromptResult withImages(
      Tokens text,
      ImageParts parts,
      ObjectNode body,
      PromptOptions options,
      Supplier<ImageNaming> names,
      EncodeGuard guard) {
    if (options.keepTokens() != PromptOptions.ALL) {
      throw new InexactPromptException(
          FallbackCause.TRUNCATION, "truncation of a chat with images");
    }
    guard.beforeImages();
    ImageNaming naming = images.areInTokens() ? ImageNaming.UNKNOWN : names.get();
    long most = maxModelTokens == ModelOptions.UNKNOWN ? MOST_WITH_IMAGES : maxModelTokens;
    boolean isUsual =
        IMAGE_OPTIONS.getOrDefault(dialect, List.of()).stream().noneMatch(body::hasNonNull);
    PlacedImages placed =
        images.place(text.sequences().get(0), parts, text.keys(), naming, most, isUsual);
    if (!isUsual) {
      return new Inexact(
          FallbackCause.MULTIMODAL, "images with options of the request's own", placed);
    }
    if (images.areInTokens() && HiddenNamespace.extraKey(body) != null) {
      return new Inexact(
          FallbackCause.HIDDEN_NAMESPACE, "images of a request with an extra_key", placed);
    }
    if (!placed.areKnown()) {
      return new Inexact(FallbackCause.MULTIMODAL, "an image that no engine has shown yet", placed);
    }
    ImageForm first =
        naming.usual() == null && !naming.forms().isEmpty() ? naming.forms().get(0) : null;
    return new Tokens(text, placed, first);
  }

  /** A completion's prompt: a text, token ids, or a list of either. */
  private Tokens completion(
      ObjectNode body, PromptOptions options, PromptKeys keys, EncodeGuard guard) {
    if (body.hasNonNull("prompt_embeds")) {
      throw new InexactPromptException(FallbackCause.PROMPT_EMBEDS, "prompt_embeds is given");
    }
    if (!body.path("suffix").asText("").isEmpty()) {
      throw new InexactPromptException(
          FallbackCause.INVALID_REQUEST, "suffix: the engine places it its own way");
    }
    JsonNode prompt = body.path("prompt");
    if (prompt.isTextual()) {
      return ofTexts(List.of(prompt.textValue()), options, keys, guard);
    }
    JsonNode first = prompt.path(0);
    if (first.isTextual()) {
      List<String> texts = new ArrayList<>(prompt.size());
      prompt.forEach(text -> {
        requirePrompt(text.isTextual());
        texts.add(text.textValue());
      });
      return ofTexts(texts, options, keys, guard);
    }
    List<int[]> sequences = new ArrayList<>();
    if (first.isArray()) {
      prompt.forEach(ids -> sequences.add(tokenIds(ids)));
    } else {
      sequences.add(tokenIds(prompt));
    }
    return finish(sequences, null, options, keys);
  }

  private int[] tokenIds(JsonNode list) {
    requirePrompt(list.isArray());
    list.forEach(id -> requirePrompt(id.isIntegralNumber()));
    int[] ids = new int[list.size()];
    for (int i = 0; i < ids.length; i++) {
      JsonNode id = list.get(i);
      if (!id.canConvertToInt() || id.intValue() < 0 || id.intValue() > maxTokenId) {
        throw new InexactPromptException(
            FallbackCause.TOKEN_OUT_OF_RANGE, "a token id is not in 0.." + maxTokenId);
      }
      ids[i] = id.intValue();
    }
    return ids;
  }

  private static void requirePrompt(boolean holds) {
    if (!holds) {
      throw InexactPromptException.invalid(
          "prompt must be a text, token ids, or a list of one of the two");
    }
  }

  private Tokens ofTexts(
      List<String> texts, PromptOptions options, PromptKeys keys, EncodeGuard guard) {
    if (options.addSpecialTokens() && !encoder.knowsSpecialTokens()) {
      throw new InexactPromptException(
          FallbackCause.UNSUPPORTED_MODEL, "engines of several kinds add other special tokens");
    }
    List<EncodedText> encoded = new ArrayList<>(texts.size());
    for (String text : texts) {
      checkKnown(text);
      EncodedText one = encoder.encode(text, options.addSpecialTokens(), guard);
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
