package dev.warmpath.lab.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.tokens.TokenizeBench.AgentTexts;
import dev.warmpath.tokenizer.files.EmbeddedFiles;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class TokenizeBenchTest {

  @TempDir private Path folder;

  @Test
  void everyPartIsExactAndTold() throws IOException {
    AtomicLong clock = new AtomicLong();
    TokenizeBench.Plan plan = new TokenizeBench.Plan(2, 3, 2, 1, 2);
    try (TokenizeBench bench =
        new TokenizeBench(
            EmbeddedFiles.read(),
            AgentTexts.read(workload()),
            plan,
            () -> clock.addAndGet(1_000_000),
            line -> {})) {
      JsonNode report = bench.run();
      assertThat(report.findValues("mismatches")).hasSize(4).allMatch(node -> node.asInt() == 0);
      JsonNode growing = report.path("growing400kB");
      assertThat(growing.path("nextTurnMsCpu").asDouble()).isEqualTo(4);
      assertThat(growing.path("wholePromptMsCpu").asDouble()).isEqualTo(1);
      assertThat(growing.path("chars").asInt()).isGreaterThan(400_000);
      assertThat(report.path("render").path("messages200UsCpu").asDouble()).isEqualTo(1_000);
      assertThat(report.path("cold8k").path("tokens").asInt()).isPositive();
      assertThat(report.path("workload").path("requests").asInt()).isEqualTo(2);
    }
  }

  @Test
  void aWorkloadWithoutCallsIsRefused() throws IOException {
    Path empty = Files.writeString(folder.resolve("empty.jsonl"), "");
    assertThatThrownBy(() -> AgentTexts.read(empty)).isInstanceOf(IOException.class);
  }

  @Test
  void textsArePartedBetweenCharactersOnly() {
    TokenizeBench.TextStream stream = new TokenizeBench.TextStream("ab\ud83d\ude00cd");
    assertThat(List.of(stream.next(3), stream.next(2), stream.next(2)))
        .containsExactly("ab\ud83d\ude00", "cd", "ab");
  }

  private Path workload() throws IOException {
    String lines =
        IntStream.range(0, 40)
            .mapToObj(i ->
                "{\"input\":\"question %d, a long one\",\"output\":\"%d answers \u2014 and more\"}"
                    .formatted(i, i))
            .collect(Collectors.joining("\n"));
    Path file = folder.resolve("calls.jsonl.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      out.write(lines.getBytes(StandardCharsets.UTF_8));
    }
    return folder;
  }
}
