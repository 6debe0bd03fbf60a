package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureWriter;
import dev.warmpath.tokenizer.ModelOptions;
import dev.warmpath.tokenizer.ModelTokenizer;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.RequestKind;
import dev.warmpath.tokenizer.chat.ChatOptions;
import dev.warmpath.tokenizer.chat.ChatOptions.Dialect;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CaptureRenderingTest {

  private static final String TEXT = "What does the replica hold?";

  @TempDir Path folder;

  private final List<String> findings = new ArrayList<>();

  @Test
  void comparesEachRenderedPromptWithTheEnginesTokens() throws IOException {
    List<Long> ids = ids(TEXT);
    Path file =
        capture(
            Map.of("token_ids", ids),
            Map.of("token_ids", ids, "prompt", TEXT),
            Map.of("token_ids", ids.subList(1, ids.size()), "prompt", TEXT),
            Map.of("token_ids", ids, "prompt", ""));
    assertThat(check(file)).isEqualTo(new RenderTotals(1, 1, 1));
    assertThat(findings).hasSize(2);
    assertThat(findings.get(0)).contains("request-2: wrong from token 0 on");
    assertThat(findings.get(1)).contains("request-3: inexact: invalid_request");
    assertThat(findings).noneMatch(finding -> finding.contains("replica hold"));
  }

  @Test
  void requestsAreReadByTheRulesOfTheEngineThatWasRecorded() throws IOException {
    Map<String, Object> chat =
        Map.of("messages", List.of(Map.of("role", "user", "content", List.of())));
    List<Long> ids = new ArrayList<>();
    try (ModelTokenizer tokenizer = embedded("", Dialect.SGLANG)) {
      PromptResult result =
          tokenizer.prompt(RequestKind.CHAT, new ObjectMapper().valueToTree(chat), null);
      Arrays.stream(((PromptResult.Tokens) result).sequences().get(0))
          .forEach(id -> ids.add((long) id));
    }
    Map<String, Object> answered = new HashMap<>(chat);
    answered.put("token_ids", ids);
    answered.put("add_special_tokens", "SGLang does not know this field");
    assertThat(check(capture("sglang", answered))).isEqualTo(new RenderTotals(1, 0, 0));
    assertThat(check(capture("vllm", answered))).isEqualTo(new RenderTotals(0, 0, 1));
  }

  @Test
  void totalsAreOneJsonObject() {
    assertThat(new RenderTotals(5, 1, 2).json())
        .isEqualTo("{\"total\":8,\"exact\":5,\"wrong\":1,\"inexact\":2}");
  }

  private RenderTotals check(Path file) throws IOException {
    try (TokenizeCommand.LoadedModels models =
        new TokenizeCommand.LoadedModels(CaptureRenderingTest::embedded)) {
      return new CaptureRendering(models::of, findings::add).check(file);
    }
  }

  @SafeVarargs
  private Path capture(Map<String, Object>... bodies) throws IOException {
    return capture("vllm", bodies);
  }

  private static ModelTokenizer embedded(String model, Dialect dialect) {
    return ModelTokenizer.embedded(
        new ModelOptions(ChatOptions.defaults().with(dialect), ModelOptions.UNKNOWN));
  }

  @SafeVarargs
  private Path capture(String engine, Map<String, Object>... bodies) throws IOException {
    Path file = folder.resolve(engine + ".wpc.gz");
    List<CaptureStream> streams = List.of(CaptureStream.live(0, "replica", engine, "small"));
    try (CaptureWriter writer =
        CaptureWriter.create(file, CaptureHeader.of(Instant.EPOCH, "", streams))) {
      for (int i = 0; i < bodies.length; i++) {
        writer.write(new CaptureRecord.Request(i, 0, "request-" + i, bodies[i]));
      }
    }
    return file;
  }

  private static List<Long> ids(String text) {
    try (ModelTokenizer tokenizer = ModelTokenizer.embedded()) {
      return Arrays.stream(tokenizer.encode(text, true)).mapToObj(Long::valueOf).toList();
    }
  }
}
