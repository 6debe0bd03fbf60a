package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.lab.tokens.TokenComparison.EngineTokenizeClient;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.simulator.cli.RenderTotals;
import dev.warmpath.simulator.cli.TokenizeCommand;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import dev.warmpath.tokenizer.template.ChatTemplate;
import dev.warmpath.tokenizer.template.syntax.TemplateException;
import dev.warmpath.tokenizer.template.syntax.TemplateLimits;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * {@code warmpath tokenize} as it is in a clone: compares our prompts with goldens and with running
 * engines, too.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "tokenize",
    footer = {
      "",
      "Examples:",
      "  warmpath tokenize --text 'Hello, world'",
      "  warmpath tokenize --tokenizer models/qwen3 --chat request.json --json",
      "  warmpath tokenize --goldens goldens",
      "  warmpath tokenize --against http://localhost:8000 --tokenizer models/qwen3 --model qwen3"
    })
public final class CompareTokensCommand extends TokenizeCommand {

  /** With whose tokens ours are compared. */
  static final class Others {
    @Option(
        names = "--goldens",
        paramLabel = "DIR|FILE",
        description =
            "A folder of chat templates, conversations and what Jinja2 made of them, or a file of"
                + " requests and the tokens that an engine's code made of them, with --tokenizer:"
                + " renders them and compares. Exit code 1 if one differs.")
    @Nullable Path goldens;

    @Option(
        names = "--against",
        paramLabel = "URL",
        description =
            "A running engine: makes odd requests, asks it for their tokens and compares. Exit code"
                + " 1 if one differs.")
    @Nullable URI engine;
  }

  @ArgGroup(multiplicity = "0..1")
  private @Nullable Others others;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "300",
      description = "With --against: how many requests. Default: ${DEFAULT-VALUE}.")
  private int requests;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "With --against: what the requests are drawn from. Default: ${DEFAULT-VALUE}.")
  private long seed;

  @Option(
      names = "--kinds",
      paramLabel = "K",
      split = ",",
      description =
          "With --against: kinds of requests, of ${COMPLETION-CANDIDATES}. Default: CHAT, MESSAGES,"
              + " RESPONSES.")
  private List<RequestKind> kinds =
      List.of(RequestKind.CHAT, RequestKind.MESSAGES, RequestKind.RESPONSES);

  @Override
  public Integer call() {
    if (others == null) {
      return super.call();
    }
    if (hasInput()) {
      throw CommandException.usage("--goldens and --against stand alone");
    }
    return others.goldens != null
        ? checkGoldens(others.goldens)
        : compare(Objects.requireNonNull(others.engine));
  }

  private int compare(URI engine) {
    HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    try (ModelTokenizer loaded = load(chat(Dialect.VLLM))) {
      EngineTokenizeClient tokens = new EngineTokenizeClient(client, engine);
      TokenComparison.Result result =
          new TokenComparison(loaded, tokens, modelName(), System.err::println)
              .run(requests, seed, kinds);
      System.out.println(result.json());
      boolean compared = result.totals().total() > 0;
      return compared && result.totals().wrong() == 0 ? Exit.OK : Exit.FAILED;
    } catch (IOException e) {
      throw CommandException.failed("--against " + engine + ": " + reason(e));
    }
  }

  /** A refused connection has no message. */
  private static String reason(IOException e) {
    return e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage();
  }

  private int checkGoldens(Path goldens) {
    try {
      return Files.isRegularFile(goldens) ? checkPrompts(goldens) : checkTemplates(goldens);
    } catch (IOException e) {
      throw CommandException.failed("--goldens " + goldens + ": not readable: " + e.getMessage());
    }
  }

  private static int checkTemplates(Path folder) throws IOException {
    TemplateGoldens.Result result = TemplateGoldens.run(folder);
    result.differences().forEach(System.err::println);
    return finish(new RenderTotals(result.exact(), result.wrong(), result.inexact()));
  }

  private int checkPrompts(Path file) throws IOException {
    Consumer<String> findings = System.err::println;
    try (PromptGoldens goldens = new PromptGoldens(this::loadStarted, findings)) {
      RenderTotals totals = goldens.check(file);
      System.out.println(totals.json());
      return totals.wrong() + totals.inexact() == 0 ? Exit.OK : Exit.FAILED;
    }
  }

  private ModelTokenizer loadStarted(PromptGoldens.Start start) {
    return load(
        ChatOptions.defaults()
            .with(templates().excludingToolsWhenNone(start.excludesToolsWhenNone()))
            .with(start.harmony()));
  }

  /**
   * Compares prompts with what an engine's own code made of the same requests: a file with a list
   * {@code goldens} of {@code name}, {@code api}, {@code env}, {@code server} and {@code request},
   * and either {@code ids} or {@code error}.
   *
   * <p>Confined to one thread.
   */
  private static final class PromptGoldens implements AutoCloseable {

    private static final ObjectMapper MAPPER = new ObjectMapper();
    private static final Map<String, RequestKind> KINDS =
        Map.of(
            "chat", RequestKind.CHAT,
            "completion", RequestKind.COMPLETION,
            "messages", RequestKind.MESSAGES,
            "responses", RequestKind.RESPONSES);

    /** How an engine was started. */
    record Start(Harmony harmony, boolean excludesToolsWhenNone) {

      private static Start of(JsonNode golden) {
        JsonNode env = golden.path("env");
        @Nullable String date = env.path("VLLM_SYSTEM_START_DATE").textValue();
        boolean instructs =
            env.path("VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS").asText().equals("1");
        return new Start(
            new Harmony(date, instructs),
            golden.path("server").path("exclude_tools_when_tool_choice_none").asBoolean());
      }
    }

    private final Function<Start, ModelTokenizer> load;
    private final Consumer<String> findings;
    private final Map<Start, ModelTokenizer> loaded = new HashMap<>();

    /** Tells {@code findings} about each prompt that is not as it should be. */
    PromptGoldens(Function<Start, ModelTokenizer> load, Consumer<String> findings) {
      this.load = load;
      this.findings = findings;
    }

    /** Compares all of a file. */
    RenderTotals check(Path file) throws IOException {
      RenderTotals totals = RenderTotals.NONE;
      JsonNode goldens = MAPPER.readTree(file.toFile()).path("goldens");
      if (goldens.isEmpty()) {
        throw new IOException("no goldens in it");
      }
      for (JsonNode golden : goldens) {
        totals = totals.plus(check(golden));
      }
      return totals;
    }

    private RenderTotals check(JsonNode golden) throws IOException {
      String name = golden.path("name").asText();
      RequestKind kind = KINDS.get(golden.path("api").asText());
      if (kind == null || !(golden.path("request") instanceof ObjectNode request)) {
        throw new IOException("a golden of an unknown form: " + name);
      }
      PromptResult ours =
          loaded.computeIfAbsent(Start.of(golden), load).prompt(kind, request, null);
      return golden.has("error")
          ? checkRefused(name, ours)
          : compare(name, ours, golden.path("ids"));
    }

    private RenderTotals checkRefused(String name, PromptResult ours) {
      if (ours instanceof Inexact) {
        return new RenderTotals(1, 0, 0);
      }
      findings.accept(name + ": refused by the engine alone");
      return new RenderTotals(0, 1, 0);
    }

    private RenderTotals compare(String name, PromptResult ours, JsonNode list) {
      if (ours instanceof Inexact inexact) {
        findings.accept(
            "%s: inexact: %s: %s".formatted(name, inexact.cause().label(), inexact.detail()));
        return new RenderTotals(0, 0, 1);
      }
      int[] ids = ((Tokens) ours).sequences().get(0);
      int[] engineIds = new int[list.size()];
      Arrays.setAll(engineIds, i -> list.get(i).asInt());
      int differs = Arrays.mismatch(ids, engineIds);
      if (differs < 0) {
        return new RenderTotals(1, 0, 0);
      }
      findings.accept("%s: wrong from token %d on".formatted(name, differs));
      return new RenderTotals(0, 1, 0);
    }

    @Override
    public void close() {
      loaded.values().forEach(ModelTokenizer::close);
    }
  }

  /**
   * Renders a folder of goldens (templates, conversations, and what real Jinja2 made of each pair)
   * and counts how often the answer is the same. The clock stands at the goldens' own time.
   *
   * <p>Confined to its thread.
   */
  private static final class TemplateGoldens {
    private static final Clock CLOCK =
        Clock.fixed(Instant.parse("2026-01-15T12:34:56Z"), ZoneOffset.UTC);

    private final ObjectMapper json = new ObjectMapper();
    private final Map<String, ChatTemplate> templates = new HashMap<>();
    private final List<String> differences = new ArrayList<>();
    private int exact;
    private int wrong;
    private int inexact;

    private TemplateGoldens() {}

    /**
     * What came out.
     *
     * @param exact the same text, or failure where Jinja2 fails
     * @param wrong other text, or text instead of failure, or failure as if Jinja2 failed
     * @param inexact not rendered, without claiming that Jinja2 would fail
     * @param differences the cases that are not exact, without their text
     */
    record Result(int total, int exact, int wrong, int inexact, List<String> differences) {
      Result {
        differences = List.copyOf(differences);
      }
    }

    /**
     * Runs the goldens in a folder of {@code templates}, {@code conversations}, {@code goldens}.
     */
    static Result run(Path folder) throws IOException {
      return new TemplateGoldens().runAll(folder);
    }

    private Result runAll(Path folder) throws IOException {
      JsonNode sources = read(folder.resolve("templates.json.gz"));
      JsonNode conversations = read(folder.resolve("conversations.json.gz"));
      JsonNode goldens = read(folder.resolve("goldens.json.gz"));
      for (JsonNode golden : goldens) {
        String template = golden.path("template").asText();
        String conversation = golden.path("conversation").asText();
        String source = sources.path(template).path("template").asText();
        check(golden, template, source, variables(conversations.path(conversation)));
      }
      return new Result(goldens.size(), exact, wrong, inexact, differences);
    }

    private JsonNode read(Path file) throws IOException {
      try (InputStream in = new GZIPInputStream(Files.newInputStream(file))) {
        return json.readTree(in);
      }
    }

    @SuppressWarnings("unchecked")
    private Map<String, Object> variables(JsonNode conversation) {
      return json.convertValue(conversation, Map.class);
    }

    private void check(
        JsonNode golden, String template, String source, Map<String, Object> variables) {
      boolean ok = golden.path("ok").asBoolean();
      String name = template + " × " + golden.path("conversation").asText();
      try {
        ChatTemplate parsed =
            templates.computeIfAbsent(
                template, t -> ChatTemplate.parse(source, CLOCK, TemplateLimits.DEFAULT));
        String text = parsed.render(variables);
        count(ok && text.equals(golden.path("output").asText()), name + ": other text");
      } catch (TemplateException e) {
        failed(e, ok, name);
      }
    }

    private void failed(TemplateException e, boolean ok, String name) {
      boolean claims =
          e.kind() == TemplateException.Kind.RAISED || e.kind() == TemplateException.Kind.SYNTAX;
      if (claims) {
        count(!ok, name + ": " + e.getMessage());
      } else {
        inexact++;
        differences.add(name + ": inexact: " + e.getMessage());
      }
    }

    private void count(boolean same, String difference) {
      if (same) {
        exact++;
      } else {
        wrong++;
        differences.add(difference);
      }
    }
  }
}
