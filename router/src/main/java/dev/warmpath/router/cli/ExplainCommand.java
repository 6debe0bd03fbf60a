package dev.warmpath.router.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * {@code warmpath explain}: asks a running router who would get a request, and why.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "explain",
    description = "Asks a running router who would get a request, and why.",
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  warmpath explain request.json",
      "  warmpath explain --path /v1/messages request.json",
      "  warmpath explain --admin http://127.0.0.1:9081 --json - < request.json"
    })
public final class ExplainCommand implements WarmpathCommand {

  private static final String[] COLUMNS = {
    "", "engine", "trust", "blocks", "matched", "expected", "load", "predict", "score", "terms"
  };
  private static final String ROW = "%-2s%-24s %-12s %8s %9s %9s %7s %9s %12s  %s%n";

  @Parameters(paramLabel = "FILE", description = "A request body; - reads standard input.")
  private String file = "-";

  @Mixin private final AdminPort router = new AdminPort();

  @Option(
      names = "--path",
      paramLabel = "PATH",
      description = "What the request is for, such as /v1/messages; default: as it looks.")
  private @Nullable String path;

  @Option(
      names = "--session",
      paramLabel = "KEY",
      description = "What the request's session header says.")
  private @Nullable String session;

  @Option(names = "--json", description = "Print the router's answer, one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws InterruptedException {
    JsonNode answer = router.post(route(), body());
    if (json) {
      System.out.println(answer);
    } else {
      print(answer);
    }
    return answer.path("winner").isTextual() ? Exit.OK : Exit.FAILED;
  }

  private byte[] body() {
    try {
      return file.equals("-") ? System.in.readAllBytes() : Files.readAllBytes(Path.of(file));
    } catch (IOException e) {
      throw CommandException.usage(file + ": cannot be read");
    }
  }

  private String route() {
    return "/admin/explain?" + parameter("path", path) + parameter("session", session);
  }

  private static String parameter(String name, @Nullable String value) {
    return value == null ? "" : "&" + name + "=" + URLEncoder.encode(value, StandardCharsets.UTF_8);
  }

  private static void print(JsonNode answer) {
    printHead(answer);
    System.out.printf(ROW, (Object[]) COLUMNS);
    for (JsonNode engine : answer.path("engines")) {
      row(engine, engine.path("engine").equals(answer.path("winner")));
    }
    for (Map.Entry<String, JsonNode> passed : answer.path("passedOver").properties()) {
      System.out.printf("  %-24s passed over: %s%n", passed.getKey(), passed.getValue().asText());
    }
  }

  private static void printHead(JsonNode answer) {
    JsonNode prompt = answer.path("prompt");
    if (prompt.path("exact").asBoolean()) {
      System.out.printf("prompt   %d tokens, exact%n", prompt.path("tokens").asInt());
    } else {
      String detail = prompt.path("detail").asText("");
      System.out.printf("prompt   not known: %s %s%n", prompt.path("reason").asText(), detail);
    }
    String winner = answer.path("winner").asText("nobody");
    System.out.printf("policy   %s%n", answer.path("policy").asText());
    System.out.printf("winner   %s (%s)%n", winner, answer.path("reason").asText());
    JsonNode split = answer.path("split");
    if (split.isObject()) {
      JsonNode alone = split.path("aloneMs");
      System.out.printf(
          "split    %s: %s then %s %.0f ms, alone %s%n",
          split.path("splits").asBoolean() ? "yes" : "no",
          split.path("prefill").asText(),
          split.path("decode").asText(),
          split.path("apartMs").asDouble(),
          alone.isNull() ? "nobody" : "%.0f ms".formatted(alone.asDouble()));
    }
    System.out.println();
  }

  private static void row(JsonNode engine, boolean wins) {
    StringBuilder terms = new StringBuilder();
    for (Map.Entry<String, JsonNode> term : engine.path("terms").properties()) {
      terms.append(String.format("%s=%.2f ", term.getKey(), term.getValue().asDouble()));
    }
    JsonNode predicted = engine.path("predictedCachedTokens");
    System.out.printf(
        ROW,
        wins ? ">" : "",
        engine.path("engine").asText(),
        engine.path("trust").asText(),
        engine.path("matchedBlocks").asText(),
        engine.path("matchedTokens").asText(),
        engine.path("expectedTokens").asText(),
        engine.path("requestsInFlight").asText(),
        predicted.isNull() ? "-" : predicted.asText(),
        String.format("%.2f", engine.path("score").asDouble()),
        terms.toString().trim());
  }
}
