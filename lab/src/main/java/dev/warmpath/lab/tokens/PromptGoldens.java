package dev.warmpath.lab.tokens;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.cli.RenderTotals;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.PromptResult.Inexact;
import dev.warmpath.tokenizer.PromptResult.Tokens;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions.Harmony;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Compares prompts with what an engine's own code made of the same requests: a file with a list
 * {@code goldens} of {@code name}, {@code api}, {@code env}, {@code server} and {@code request},
 * and either {@code ids} or {@code error}.
 *
 * <p>Confined to one thread.
 */
final class PromptGoldens implements AutoCloseable {

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
      boolean instructs = env.path("VLLM_GPT_OSS_HARMONY_SYSTEM_INSTRUCTIONS").asText().equals("1");
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
    PromptResult ours = loaded.computeIfAbsent(Start.of(golden), load).prompt(kind, request, null);
    return golden.has("error") ? checkRefused(name, ours) : compare(name, ours, golden.path("ids"));
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
