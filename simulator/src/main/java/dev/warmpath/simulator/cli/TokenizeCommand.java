package dev.warmpath.simulator.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import dev.warmpath.tokenizer.ModelOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.chat.ChatOptions.Templates;
import dev.warmpath.tokenizer.encode.CutCheck;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import dev.warmpath.tokenizer.files.ModelFiles;
import dev.warmpath.tokenizer.files.TokenizerLoadException;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code warmpath tokenize}: shows a prompt as the engine will see it: its text, its token ids and
 * the keys of its blocks.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "tokenize",
    description = "Shows a prompt's rendered text, token ids and block keys.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath tokenize --text 'Hello, world'",
      "  warmpath tokenize --tokenizer models/qwen3 --chat request.json --json",
      "  warmpath tokenize --tokenizer hf://Qwen/Qwen3-8B --chat request.json",
      "  warmpath tokenize --tokenizer models/qwen3 --messages request.json",
      "  warmpath tokenize --models models --capture chats.wpc.gz",
      "  warmpath tokenize --check-cuts --tokenizer models/qwen3 --json",
      "  echo '[{\"role\": \"user\", \"content\": \"Hi\"}]' | warmpath tokenize --chat -"
    })
public class TokenizeCommand implements WarmpathCommand {

  /** The same texts each time. */
  private static final long CHECK_SEED = 10_000;

  /** What is to be shown. */
  static final class Input {
    @Option(
        names = "--text",
        paramLabel = "STR",
        description = "A text, as the prompt of a completions request.")
    @Nullable String text;

    @Option(
        names = "--chat",
        paramLabel = "FILE|-",
        description = "A chat: a request body with messages, or the list of messages alone.")
    @Nullable String chat;

    @Option(
        names = "--messages",
        paramLabel = "FILE|-",
        description = "As --chat, as a request to /v1/messages.")
    @Nullable String messages;

    @Option(
        names = "--responses",
        paramLabel = "FILE|-",
        description = "A request to /v1/responses: its body, or its list of items alone.")
    @Nullable String responses;

    @Option(
        names = "--capture",
        paramLabel = "FILE",
        arity = "1..*",
        description =
            "Captures of real engines: renders their requests and compares with the engines' own"
                + " tokens. Exit code 1 if one differs.")
    @Nullable List<Path> captures;

    @Option(
        names = "--check-cuts",
        description =
            "Tries on random texts that the tokenizer's texts in pieces and from memory give the"
                + " tokens of the whole. Exit code 1 if one differs.")
    boolean checkCuts;
  }

  @ArgGroup(multiplicity = "0..1")
  private @Nullable Input input;

  @Option(
      names = "--tokenizer",
      paramLabel = "DIR",
      description = {
        "A model directory, a tokenizer.json, or hf://ORGANISATION/NAME[@REVISION], which is"
            + " downloaded if the cache does not have it. Default: the embedded tokenizer."
      })
  private @Nullable String tokenizer;

  @Option(
      names = "--chat-template",
      paramLabel = "FILE",
      description = "The engine's --chat-template. Default: the model's own.")
  private @Nullable Path chatTemplate;

  @Option(
      names = "--start-date",
      paramLabel = "TEXT",
      description = "The engine's VLLM_SYSTEM_START_DATE, for gpt-oss. Default: this day.")
  private @Nullable String startDate;

  @Option(
      names = "--models",
      paramLabel = "DIR",
      description = "With --capture: the folder that holds a model directory for each model.")
  private @Nullable Path models;

  @Option(
      names = "--model",
      paramLabel = "NAME",
      description = "The model's name in the block keys. Default: the directory's name.")
  private @Nullable String model;

  @Option(
      names = "--lora",
      paramLabel = "NAME",
      description = "The adapter that serves the request. Default: none.")
  private @Nullable String lora;

  @Option(
      names = "--block-size",
      paramLabel = "B",
      defaultValue = "16",
      description = "Tokens a block. Default: ${DEFAULT-VALUE}.")
  private int blockSizeTokens;

  @Option(
      names = "--texts",
      paramLabel = "N",
      defaultValue = "10000",
      description = "With --check-cuts: how many texts. Default: ${DEFAULT-VALUE}.")
  private int texts;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() {
    if (input == null) {
      throw CommandException.usage(
          "one of --text, --chat, --messages, --responses, --capture and --check-cuts is needed");
    }
    if (input.checkCuts) {
      return checkCuts();
    }
    return input.captures == null ? show(request(input)) : checkCaptures(input.captures);
  }

  /** Whether the flags say what is to be shown. */
  protected final boolean hasInput() {
    return input != null;
  }

  private int show(TokenizeInput request) {
    ChainSpace space = space();
    try (ModelTokenizer loaded = load(chat(Dialect.VLLM))) {
      PromptReport report =
          new PromptReport(space, loaded.prompt(request.kind(), request.body(), lora));
      if (json) {
        System.out.println(report.json());
      } else {
        report.print(System.out);
      }
      return report.exact() ? Exit.OK : Exit.FAILED;
    }
  }

  private int checkCaptures(List<Path> files) {
    RenderTotals totals = RenderTotals.NONE;
    try (LoadedModels loaded = new LoadedModels(this::loadOf)) {
      CaptureRendering check = new CaptureRendering(loaded::of, System.err::println);
      for (Path file : files) {
        RenderTotals ofFile = check.check(file);
        System.err.println(file + ": " + ofFile.json());
        totals = totals.plus(ofFile);
      }
    } catch (IOException e) {
      throw CommandException.failed("--capture: " + e.getMessage());
    }
    return finish(totals);
  }

  private int checkCuts() {
    if (texts < 1) {
      throw CommandException.usage("--texts must be at least 1");
    }
    CutCheck.Result result = CutCheck.run(tokenizerJson(), texts, CHECK_SEED);
    System.out.println(CutReport.json(modelName(), result));
    return result.mismatches() == 0 ? Exit.OK : Exit.FAILED;
  }

  private String tokenizerJson() {
    try {
      ModelFiles files =
          tokenizer == null ? EmbeddedFiles.read() : ModelFiles.read(files(tokenizer));
      return files.tokenizer().json();
    } catch (TokenizerLoadException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  /** Prints the totals; the exit code says whether a prompt is wrong. */
  protected static int finish(RenderTotals totals) {
    System.out.println(totals.json());
    return totals.wrong() == 0 ? Exit.OK : Exit.FAILED;
  }

  private ModelTokenizer loadOf(String ofModel, Dialect dialect) {
    return load(models == null ? tokenizer : models.resolve(ofModel).toString(), chat(dialect));
  }

  private ChainSpace space() {
    try {
      return new ChainSpace(modelName(), blockSizeTokens, 0);
    } catch (IllegalArgumentException e) {
      throw CommandException.usage("--block-size must be 1 to " + ChainSpace.MAX_BLOCK_SIZE_TOKENS);
    }
  }

  /** The model's name in block keys and requests. */
  protected final String modelName() {
    if (model != null) {
      return model;
    }
    return tokenizer == null ? "embedded" : new NamedTokenizer(tokenizer).model();
  }

  private static Path files(String place) {
    return new NamedTokenizer(place).files();
  }

  /** How an engine that the flags describe renders chats. */
  protected final ChatOptions chat(Dialect dialect) {
    ChatOptions chat = ChatOptions.defaults().with(dialect).with(templates());
    return startDate == null ? chat : chat.with(new Harmony(startDate, false));
  }

  /** The tokenizer that the flags name, for an engine that renders chats like this. */
  protected final ModelTokenizer load(ChatOptions chat) {
    return load(tokenizer, chat);
  }

  private static ModelTokenizer load(@Nullable String place, ChatOptions chat) {
    ModelOptions options = new ModelOptions(chat, ModelOptions.UNKNOWN);
    try {
      return place == null
          ? ModelTokenizer.embedded(options)
          : ModelTokenizer.load(files(place), options);
    } catch (TokenizerLoadException e) {
      throw CommandException.failed(String.valueOf(e.getMessage()));
    }
  }

  /** The templates that the flags name. */
  protected final Templates templates() {
    if (chatTemplate == null) {
      return Templates.defaults();
    }
    try {
      return Templates.defaults().withFile(Files.readString(chatTemplate));
    } catch (IOException e) {
      throw CommandException.failed("--chat-template " + chatTemplate + ": not readable: " + e);
    }
  }

  private static TokenizeInput request(Input input) {
    if (input.text != null) {
      return TokenizeInput.ofText(input.text);
    }
    if (input.messages != null) {
      return TokenizeInput.read(RequestKind.MESSAGES, "--messages", input.messages);
    }
    return input.responses != null
        ? TokenizeInput.read(RequestKind.RESPONSES, "--responses", input.responses)
        : TokenizeInput.read(RequestKind.CHAT, "--chat", Objects.requireNonNull(input.chat));
  }

  /**
   * One prompt as its text, its tokens and the keys of its blocks.
   *
   * @param space where the block keys live
   */
  private record PromptReport(ChainSpace space, PromptResult result) {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Whether there are tokens to show. */
    boolean exact() {
      return result instanceof Tokens;
    }

    /** The report as one JSON object. */
    ObjectNode json() {
      ObjectNode json = MAPPER.createObjectNode().put("model", space.model());
      if (result instanceof Inexact inexact) {
        json.putObject("inexact")
            .put("reason", inexact.cause().label())
            .put("detail", inexact.detail());
      } else if (result instanceof Tokens tokens) {
        putTokens(json, tokens);
      }
      return json;
    }

    /** Prints the report for people. */
    void print(PrintStream out) {
      if (result instanceof Inexact inexact) {
        out.println("not exact: " + inexact.cause().label() + ": " + inexact.detail());
      } else if (result instanceof Tokens tokens) {
        if (tokens.text() != null) {
          out.println(tokens.text());
          out.println();
        }
        int[] ids = tokens.sequences().get(0);
        out.println(ids.length + " tokens: " + Arrays.toString(ids));
        BlockChain chain = chain(tokens);
        out.println(chain.blocks() + " full blocks of " + space.blockSizeTokens() + " tokens");
        for (int block = 0; block < chain.blocks(); block++) {
          out.printf("%5d  %016x%n", block, chain.blockKey(block));
        }
      }
    }

    private void putTokens(ObjectNode json, Tokens tokens) {
      json.put("text", tokens.text());
      int[] ids = tokens.sequences().get(0);
      json.put("tokens", ids.length);
      Arrays.stream(ids).forEach(json.putArray("tokenIds")::add);
      json.put("blockSizeTokens", space.blockSizeTokens());
      BlockChain chain = chain(tokens);
      var keys = json.putArray("blockKeys");
      for (int block = 0; block < chain.blocks(); block++) {
        keys.add("%016x".formatted(chain.blockKey(block)));
      }
      json.put("readsCache", tokens.readsCache());
      json.put("comparable", tokens.comparable());
    }

    private BlockChain chain(Tokens tokens) {
      return BlockChain.of(space, tokens.sequences().get(0), tokens.keys());
    }
  }

  /** What came out of trying a tokenizer's cuts, as one JSON object. */
  private static final class CutReport {

    private CutReport() {}

    static ObjectNode json(String tokenizer, CutCheck.Result result) {
      return new ObjectMapper()
          .createObjectNode()
          .put("tokenizer", tokenizer)
          .put("placement", result.placement().kind().name())
          .put("reason", result.placement().reason())
          .put("texts", result.texts())
          .put("inPieces", result.inPieces())
          .put("fromMemory", result.fromMemory())
          .put("mismatches", result.mismatches());
    }
  }

  /**
   * Tokenizers by model name and engine, each loaded when it is first asked for.
   *
   * <p>Confined to one thread.
   */
  static final class LoadedModels implements AutoCloseable {

    private record Key(String model, Dialect dialect) {}

    private final BiFunction<String, Dialect, ModelTokenizer> load;
    private final Map<Key, ModelTokenizer> loaded = new HashMap<>();

    /** Loads with {@code load}. */
    public LoadedModels(BiFunction<String, Dialect, ModelTokenizer> load) {
      this.load = load;
    }

    /** The tokenizer of {@code model} for this kind of engine. */
    public ModelTokenizer of(String model, Dialect dialect) {
      return loaded.computeIfAbsent(
          new Key(model, dialect), key -> load.apply(key.model(), key.dialect()));
    }

    @Override
    public void close() {
      loaded.values().forEach(ModelTokenizer::close);
    }
  }

  /**
   * A request that somebody wants to see as tokens.
   *
   * <p>Immutable; the body is not to be changed.
   *
   * @param kind how it is read
   */
  private record TokenizeInput(RequestKind kind, ObjectNode body) {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** A completions request. */
    static TokenizeInput ofText(String text) {
      return new TokenizeInput(RequestKind.COMPLETION, JSON.createObjectNode().put("prompt", text));
    }

    /**
     * Reads a body, or its messages or items alone.
     *
     * @param flag names it in errors
     * @param file {@code -} for the standard input
     */
    static TokenizeInput read(RequestKind kind, String flag, String file) {
      JsonNode read = json(flag, file);
      if (read.isArray()) {
        return new TokenizeInput(kind, around(kind, read));
      }
      if (read instanceof ObjectNode body) {
        return new TokenizeInput(kind, body);
      }
      throw CommandException.usage(flag + " " + file + ": neither a request body nor a list");
    }

    /** The shortest body with this list; a Messages request must bound its answer. */
    private static ObjectNode around(RequestKind kind, JsonNode list) {
      ObjectNode body = JSON.createObjectNode();
      if (kind == RequestKind.MESSAGES) {
        body.put("max_tokens", 1);
      }
      return body.set(kind == RequestKind.RESPONSES ? "input" : "messages", list);
    }

    private static JsonNode json(String flag, String file) {
      try (InputStream in = file.equals("-") ? System.in : Files.newInputStream(Path.of(file))) {
        return JSON.readTree(in);
      } catch (JsonProcessingException e) {
        int line = e.getLocation() == null ? 0 : e.getLocation().getLineNr();
        throw CommandException.usage(
            flag + " " + file + ": line " + line + ": " + e.getOriginalMessage());
      } catch (IOException e) {
        throw CommandException.failed(flag + " " + file + ": not readable: " + e);
      }
    }
  }
}
