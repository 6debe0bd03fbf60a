package dev.warmpath.router.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
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

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String[] COLUMNS = {
    "", "engine", "trust", "blocks", "matched", "expected", "load", "predict", "score", "terms"
  };
  private static final String ROW = "%-2s%-24s %-12s %8s %9s %9s %7s %9s %12s  %s%n";

  @Parameters(paramLabel = "FILE", description = "A request body; - reads standard input.")
  private String file = "-";

  @Option(
      names = "--admin",
      paramLabel = "URL",
      defaultValue = "http://127.0.0.1:8081",
      description = "The router's admin address; default ${DEFAULT-VALUE}.")
  private URI admin = URI.create("http://127.0.0.1:8081");

  @Option(
      names = "--key-file",
      paramLabel = "FILE",
      description = "The admin key, as admin.key-file of the router holds it; its first line.")
  private @Nullable Path keyFile;

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
    JsonNode answer = ask(body());
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

  private JsonNode ask(byte[] body) throws InterruptedException {
    try {
      HttpRequest.Builder request =
          HttpRequest.newBuilder(admin.resolve(route()))
              .timeout(PATIENCE)
              .POST(HttpRequest.BodyPublishers.ofByteArray(body));
      if (keyFile != null) {
        request.header("authorization", "Bearer " + key(keyFile));
      }
      HttpResponse<String> response =
          HttpClient.newHttpClient().send(request.build(), HttpResponse.BodyHandlers.ofString());
      JsonNode answer = JSON.readTree(response.body());
      if (response.statusCode() != 200) {
        String why = answer.path("error").path("message").asText("no reason");
        throw CommandException.failed(admin + ": " + response.statusCode() + " " + why);
      }
      return answer;
    } catch (IOException | IllegalArgumentException e) {
      throw CommandException.failed(
          "--admin " + admin + ": no router answers there (" + e.getClass().getSimpleName() + ")");
    }
  }

  private static String key(Path file) {
    try {
      return Files.readString(file).lines().findFirst().orElse("").strip();
    } catch (IOException e) {
      throw CommandException.usage("--key-file " + file + ": cannot be read");
    }
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
