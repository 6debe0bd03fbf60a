package dev.warmpath.lab.tokens;

import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.simulator.cli.RenderTotals;
import dev.warmpath.simulator.cli.TokenizeCommand;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
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
}
