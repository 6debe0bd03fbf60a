package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.router.prompt.BodyParser;
import dev.warmpath.simulator.study.Distribution;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.chat.ChatRenderer;
import dev.warmpath.tokenizer.chat.ChatTexts;
import dev.warmpath.tokenizer.encode.EncodeBudget;
import dev.warmpath.tokenizer.encode.EncodedText;
import dev.warmpath.tokenizer.encode.IncrementalEncoder;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.harmony.HarmonyChats;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/**
 * Measures what requests cost on their way to tokens and block hashes, in CPU time of one thread,
 * against plain encoding of whole prompts in the same run.
 *
 * <p>Confined to one thread.
 */
final class TokenizeBench implements AutoCloseable {

  /** How much is measured. */
  record Plan(int requests, int warmUpTurns, int turns, int coldPrompts, int renders) {}

  private static final int CHAT_CHARS = 400_000;
  private static final int MESSAGE_CHARS = 2_000;
  private static final int TURN_CHARS = 1_000;
  private static final int COLD_CHARS = 32_000;
  private static final int WHOLE_EVERY = 8;
  private static final int WARM_CHAT_CHARS = 150_000;
  private static final long CACHE_BYTES = 128L << 20;
  private static final long BODY_BYTES = 64L << 20;
  private static final long HASH_SEED = 0x7a11;
  private static final ChatOptions PINNED =
      ChatOptions.defaults().with(new Harmony("2026-01-01", false));
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final Plan plan;
  private final AgentTexts texts;
  private final IncrementalEncoder encoder;
  private final Pipeline pipeline;
  private final Consumer<String> progress;
  private final String template;

  /**
   * @param cpuNanos CPU time of the calling thread
   */
  TokenizeBench(
      ModelFiles files,
      AgentTexts texts,
      Plan plan,
      LongSupplier cpuNanos,
      Consumer<String> progress) {
    this.plan = plan;
    this.texts = texts;
    this.progress = progress;
    boolean harmony = HarmonyChats.fits(files);
    boolean own = !files.templates().isEmpty();
    template = harmony ? "harmony" : own ? "own" : "embedded";
    ChatTexts chats =
        harmony ? new HarmonyChats(PINNED) : renderer(own ? files : EmbeddedFiles.read());
    EncodeBudget budget = new EncodeBudget(CACHE_BYTES, EncodeBudget.CHECK_TEXTS);
    encoder =
        harmony
            ? IncrementalEncoder.withSpecials(
                files.tokenizer(), chats.specialIds(), budget, HASH_SEED)
            : IncrementalEncoder.of(files.tokenizer(), budget, HASH_SEED);
    pipeline = new Pipeline(chats, encoder, BODY_BYTES, cpuNanos);
  }

  private static ChatTexts renderer(ModelFiles files) {
    return ChatRenderer.of(files.templates(), files.specialTokens(), ChatOptions.defaults());
  }

  /** Runs all parts; the report's {@code mismatches} add up to nothing if all was exact. */
  ObjectNode run() {
    ObjectNode report = MAPPER.createObjectNode();
    report.put("placement", encoder.placement().kind() + ": " + encoder.placement().reason());
    report.put("template", template);
    report.put("threads", 1);
    report.put("warmUpTurns", plan.warmUpTurns());
    warmUp();
    report.set("render", renders());
    report.set("growing400kB", growing(ascii(third(1))));
    report.set("growing400kBWide", growing(third(2)));
    report.set("cold8k", cold());
    report.set("workload", workload());
    return report;
  }

  @Override
  public void close() {
    encoder.close();
  }

  /** Chats of other texts than those measured; their words stay known, as in a running router. */
  private void warmUp() {
    progress.accept("warming up with " + plan.warmUpTurns() + " turns");
    TextStream stream = new TextStream(third(0));
    Pipeline.Took took = new Pipeline.Took();
    int done = 0;
    while (done < plan.warmUpTurns()) {
      GrowingChat chat = new GrowingChat(stream).growTo(2, TURN_CHARS);
      for (; chat.chars() < WARM_CHAT_CHARS && done < plan.warmUpTurns(); done++) {
        pipeline.read(chat.turn(TURN_CHARS).json(), took);
      }
    }
    pipeline.readWhole(new GrowingChat(stream).growTo(20, TURN_CHARS).json(), took);
  }

  /** The answers in three parts: one to warm up with, two to grow chats of. */
  private String third(int index) {
    String all = texts.outputs();
    int from = all.length() / 3 * index;
    int to = all.length() / 3 * (index + 1);
    return all.substring(startOfPair(all, from), startOfPair(all, to));
  }

  private ObjectNode workload() {
    List<String> inputs = texts.inputs();
    int count = Math.min(plan.requests(), inputs.size());
    progress.accept("reading " + count + " recorded calls");
    pipeline.forget();
    Pipeline.Took took = new Pipeline.Took();
    long chars = 0;
    for (int i = 0; i < count; i++) {
      GrowingChat chat = new GrowingChat(new TextStream(inputs.get(i) + "  "));
      byte[] body = chat.growTo(1, inputs.get(i).length()).json();
      chars += inputs.get(i).length();
      pipeline.read(body, took);
      if (i % WHOLE_EVERY == 0) {
        pipeline.readWhole(body, took);
      }
    }
    ObjectNode node = MAPPER.createObjectNode().put("requests", count).put("chars", chars);
    node.set("usCpu", steps(took));
    return node.put("wholeUsCpu", took.whole.medianMicros()).put("mismatches", took.mismatches);
  }

  private ObjectNode renders() {
    progress.accept("rendering");
    TextStream stream = new TextStream(ascii(texts.outputs()));
    Samples three = new Samples();
    Samples many = new Samples();
    byte[] small = new GrowingChat(stream).growTo(3, 500).json();
    byte[] large = new GrowingChat(stream).growTo(200, 200).json();
    pipeline.renderOnly(small, 5 * plan.renders(), plan.renders(), three);
    pipeline.renderOnly(large, plan.renders(), plan.renders(), many);
    ObjectNode node = MAPPER.createObjectNode().put("n", plan.renders());
    node.put("messages3UsCpu", three.medianMicros()).put("messages3UsCpuP90", three.micros(0.9));
    return node.put("messages200UsCpu", many.medianMicros())
        .put("messages200UsCpuP90", many.micros(0.9));
  }

  private ObjectNode cold() {
    progress.accept("encoding " + plan.coldPrompts() + " unknown prompts");
    TextStream stream = new TextStream(texts.outputs());
    Pipeline.Took took = new Pipeline.Took();
    for (int i = 0; i < plan.coldPrompts(); i++) {
      pipeline.encodeCold(stream.next(COLD_CHARS), took);
    }
    ObjectNode node = MAPPER.createObjectNode().put("n", plan.coldPrompts());
    node.put("chars", COLD_CHARS).put("tokens", took.tokens);
    node.put("msCpu", took.all.medianMillis()).put("wholeMsCpu", took.whole.medianMillis());
    return node.put("mismatches", took.mismatches);
  }

  private ObjectNode growing(String text) {
    progress.accept("growing a chat beyond 400 kB");
    TextStream stream = new TextStream(text);
    GrowingChat chat = new GrowingChat(stream).growToChars(CHAT_CHARS, MESSAGE_CHARS);
    pipeline.read(chat.json(), new Pipeline.Took());
    Pipeline.Took took = new Pipeline.Took();
    for (int i = 0; i < plan.turns(); i++) {
      byte[] body = chat.turn(TURN_CHARS).json();
      pipeline.read(body, took);
      if (i % WHOLE_EVERY == 0) {
        pipeline.readWhole(body, took);
      }
    }
    ObjectNode node = MAPPER.createObjectNode().put("chars", chat.chars());
    node.put("tokens", took.tokens).put("newCharsPerTurn", 2 * TURN_CHARS);
    node.put("turns", plan.turns());
    node.put("nextTurnMsCpu", took.all.medianMillis());
    node.put("nextTurnMsCpuP10", took.all.millis(0.1));
    node.put("nextTurnMsCpuP90", took.all.millis(0.9));
    node.put("parseMsCpu", took.parse.medianMillis());
    node.put("renderMsCpu", took.render.medianMillis());
    node.put("encodeMsCpu", took.encode.medianMillis());
    node.put("hashMsCpu", took.hash.medianMillis());
    node.put("wholePromptMsCpu", took.whole.medianMillis()).put("wholePrompts", took.whole.count());
    return node.put("mismatches", took.mismatches);
  }

  private static ObjectNode steps(Pipeline.Took took) {
    return MAPPER
        .createObjectNode()
        .put("parse", took.parse.medianMicros())
        .put("render", took.render.medianMicros())
        .put("encode", took.encode.medianMicros())
        .put("hash", took.hash.medianMicros())
        .put("all", took.all.medianMicros())
        .put("allP90", took.all.micros(0.9));
  }

  private static String ascii(String text) {
    return text.replaceAll("[^\\x00-\\x7f]", "-");
  }

  private static int startOfPair(String text, int at) {
    boolean inside = at > 0 && at < text.length() && Character.isLowSurrogate(text.charAt(at));
    return inside ? at - 1 : at;
  }

  /**
   * A chat that grows: a system message, then users and assistants in turn, all texts new.
   *
   * <p>Confined to one thread.
   */
  static final class GrowingChat {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final ObjectNode body = MAPPER.createObjectNode().put("model", "m");
    private final ArrayNode messages = body.putArray("messages");
    private final TextStream texts;
    private int chars;

    GrowingChat(TextStream texts) {
      this.texts = texts;
    }

    /** Adds messages of {@code each} characters until there are {@code count}. */
    GrowingChat growTo(int count, int each) {
      while (messages.size() < count) {
        add(each);
      }
      return this;
    }

    /**
     * Adds messages of {@code each} characters until there are so many characters; ends by a user.
     */
    GrowingChat growToChars(int total, int each) {
      while (chars < total || messages.size() % 2 == 1) {
        add(each);
      }
      return this;
    }

    /** An assistant's answer and what the user says next. */
    GrowingChat turn(int each) {
      add(each);
      add(each);
      return this;
    }

    /** Characters of all messages. */
    int chars() {
      return chars;
    }

    byte[] json() {
      try {
        return MAPPER.writeValueAsBytes(body);
      } catch (JsonProcessingException e) {
        throw new IllegalStateException(e);
      }
    }

    private void add(int each) {
      String text = texts.next(each);
      chars += text.length();
      String role = messages.isEmpty() ? "system" : messages.size() % 2 == 1 ? "user" : "assistant";
      messages.addObject().put("role", role).put("content", text);
    }
  }

  /**
   * Gives out a long text piece by piece, from the beginning again at its end.
   *
   * <p>Confined to one thread.
   */
  static final class TextStream {

    private final String text;
    private int at;

    TextStream(String text) {
      if (text.length() < 2) {
        throw new IllegalArgumentException("chars=" + text.length());
      }
      this.text = text;
    }

    /** The next {@code chars} characters, one more if that would part a pair. */
    String next(int chars) {
      StringBuilder out = new StringBuilder(chars + 1);
      while (out.length() < chars) {
        int end = Math.min(text.length(), at + chars - out.length());
        if (end < text.length() && Character.isHighSurrogate(text.charAt(end - 1))) {
          end++;
        }
        out.append(text, at, end);
        at = end == text.length() ? 0 : end;
      }
      return out.toString();
    }
  }

  /**
   * CPU times of one thing measured many times.
   *
   * <p>Confined to one thread.
   */
  static final class Samples {

    private long[] nanos = new long[64];
    private int count;

    void add(long value) {
      if (count == nanos.length) {
        nanos = Arrays.copyOf(nanos, 2 * count);
      }
      nanos[count++] = value;
    }

    int count() {
      return count;
    }

    /** The value below which {@code share} of the samples are, in microseconds to a hundredth. */
    double micros(double share) {
      if (count == 0) {
        return 0;
      }
      double[] sorted = Arrays.stream(nanos, 0, count).sorted().asDoubleStream().toArray();
      return Math.round(Distribution.quantile(sorted, share) / 10.0) / 100.0;
    }

    double medianMicros() {
      return micros(0.5);
    }

    /** The same in milliseconds, to a thousandth. */
    double millis(double share) {
      return Math.round(micros(share)) / 1_000.0;
    }

    /** The median in milliseconds. */
    double medianMillis() {
      return millis(0.5);
    }
  }

  /**
   * Texts of recorded calls: one JSON object a line, whose input is the whole prompt and whose
   * output is the answer.
   *
   * @param inputs the prompts in the order of the file
   * @param outputs the answers, each once, behind each other
   */
  record AgentTexts(List<String> inputs, String outputs) {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    AgentTexts {
      inputs = List.copyOf(inputs);
    }

    /** Reads a file of lines, compressed if its name ends so, or the only such file of a folder. */
    static AgentTexts read(Path fileOrFolder) throws IOException {
      Path file = Files.isDirectory(fileOrFolder) ? only(fileOrFolder) : fileOrFolder;
      List<String> inputs = new ArrayList<>();
      Set<String> outputs = new LinkedHashSet<>();
      try (BufferedReader lines = open(file)) {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
          JsonNode call = MAPPER.readTree(line);
          inputs.add(call.path("input").asText());
          outputs.add(call.path("output").asText());
        }
      }
      if (inputs.isEmpty()) {
        throw new IOException("no calls in " + file);
      }
      return new AgentTexts(inputs, String.join("\n", outputs));
    }

    private static Path only(Path folder) throws IOException {
      try (Stream<Path> files = Files.list(folder)) {
        return files
            .filter(file -> file.toString().matches(".*\\.jsonl(\\.gz)?"))
            .findFirst()
            .orElseThrow(() -> new IOException("no .jsonl or .jsonl.gz in " + folder));
      }
    }

    private static BufferedReader open(Path file) throws IOException {
      InputStream in = Files.newInputStream(file);
      InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(in) : in;
      return new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8));
    }
  }

  /**
   * What a tokenizer thread of the router does with a chat, each step by its CPU time; and the same
   * done plainly, whole each time.
   *
   * <p>Confined to one thread.
   */
  private static final class Pipeline {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final ChainSpace SPACE = new ChainSpace("m", 16, 0);

    private static final int DEPTH_LIMIT = 64;

    private final ChatTexts renderer;
    private final LongSupplier cpuNanos;
    private final long bodyBytes;
    private IncrementalEncoder encoder;
    private BodyParser bodies;

    /** CPU times by step. */
    static final class Took {
      final TokenizeBench.Samples parse = new TokenizeBench.Samples();
      final TokenizeBench.Samples render = new TokenizeBench.Samples();
      final TokenizeBench.Samples encode = new TokenizeBench.Samples();
      final TokenizeBench.Samples hash = new TokenizeBench.Samples();
      final TokenizeBench.Samples all = new TokenizeBench.Samples();
      final TokenizeBench.Samples whole = new TokenizeBench.Samples();
      int mismatches;
      int tokens;
    }

    /**
     * @param bodyBytes what may be remembered of bodies
     */
    Pipeline(
        ChatTexts renderer, IncrementalEncoder encoder, long bodyBytes, LongSupplier cpuNanos) {
      this.bodyBytes = bodyBytes;
      this.bodies = new BodyParser(DEPTH_LIMIT, bodyBytes);
      this.renderer = renderer;
      this.encoder = encoder;
      this.cpuNanos = cpuNanos;
    }

    /** Forgets all bodies and texts. */
    void forget() {
      encoder = encoder.forgetful();
      bodies = new BodyParser(DEPTH_LIMIT, bodyBytes);
    }

    /** Reads the request {@code body} and notes what it took. */
    void read(byte[] body, Took took) {
      long start = cpuNanos.getAsLong();
      ObjectNode request = (ObjectNode) parsed(body);
      long parsed = cpuNanos.getAsLong();
      String text = renderer.render(request);
      long rendered = cpuNanos.getAsLong();
      EncodedText encoded = encode(text);
      long encodedAt = cpuNanos.getAsLong();
      BlockChain chain = encoded.chain(SPACE, PromptKeys.NONE);
      long end = cpuNanos.getAsLong();
      took.parse.add(parsed - start);
      took.render.add(rendered - parsed);
      took.encode.add(encodedAt - rendered);
      took.hash.add(end - encodedAt);
      took.all.add(end - start);
      took.tokens = encoded.count();
      took.mismatches += chain.promptTokens() == took.tokens ? 0 : 1;
    }

    /** Does it plainly: renders, encodes the text whole and hashes all blocks; then compares. */
    void readWhole(byte[] body, Took took) {
      ObjectNode request = parse(body);
      long start = cpuNanos.getAsLong();
      String text = renderer.render(request);
      int[] ids = encodeWhole(text);
      BlockChain chain = BlockChain.of(SPACE, ids, PromptKeys.NONE);
      took.whole.add(cpuNanos.getAsLong() - start);
      EncodedText encoded = encode(text);
      boolean same =
          Arrays.equals(ids, encoded.tokenIds())
              && same(chain, encoded.chain(SPACE, PromptKeys.NONE));
      took.mismatches += same ? 0 : 1;
    }

    /** Encodes a text that is not known, and the same whole. */
    void encodeCold(String text, Took took) {
      forget();
      long start = cpuNanos.getAsLong();
      int[] ids = encode(text).tokenIds();
      long cold = cpuNanos.getAsLong();
      int[] whole = encoder.whole().encode(text, false);
      took.whole.add(cpuNanos.getAsLong() - cold);
      took.all.add(cold - start);
      took.tokens = ids.length;
      took.mismatches += Arrays.equals(ids, whole) ? 0 : 1;
    }

    /** Renders only. */
    void renderOnly(byte[] body, int warmUps, int times, TokenizeBench.Samples samples) {
      ObjectNode request = parse(body);
      for (int i = 0; i < warmUps + times; i++) {
        long start = cpuNanos.getAsLong();
        String text = renderer.render(request);
        long nanos = cpuNanos.getAsLong() - start;
        if (i >= warmUps && !text.isEmpty()) {
          samples.add(nanos);
        }
      }
    }

    /**
     * The native library does not know marks: marked texts are cut at them, and nothing is known.
     */
    private int[] encodeWhole(String text) {
      return renderer.specialIds().length == 0
          ? encoder.whole().encode(text, false)
          : Objects.requireNonNull(encoder.forgetful().encode(text)).tokenIds();
    }

    private EncodedText encode(String text) {
      EncodedText encoded = encoder.encode(text);
      if (encoded == null) {
        throw new IllegalStateException("the workload holds half a surrogate pair");
      }
      return encoded;
    }

    private JsonNode parsed(byte[] body) {
      try {
        return bodies.parse(body);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    private static ObjectNode parse(byte[] body) {
      try {
        return (ObjectNode) MAPPER.readTree(body);
      } catch (IOException e) {
        throw new IllegalStateException(e);
      }
    }

    private static boolean same(BlockChain one, BlockChain other) {
      boolean same = one.blocks() == other.blocks();
      for (int i = 0; same && i < one.blocks(); i++) {
        same = one.localHash(i) == other.localHash(i);
      }
      return same;
    }
  }
}
