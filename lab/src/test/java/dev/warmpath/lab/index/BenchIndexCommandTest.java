package dev.warmpath.lab.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.TestCommand;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class BenchIndexCommandTest {

  @TempDir Path folder;

  private final TestCommand command = new TestCommand(BenchIndexCommand::new);

  @Test
  void printsItsFiguresAsTheLastLine() throws Exception {
    assertThat(command.run("--json", "--rounds", "1", "--warm-up", "0")).isEqualTo(Exit.OK);
    JsonNode json = command.json();
    assertThat(json.path("exact").asBoolean()).isTrue();
    assertThat(json.fieldNames())
        .toIterable()
        .contains(
            "blocksPerSecond",
            "blocksPerCpuSecond",
            "queryKeepUpNanos",
            "eventToVisibleMicrosP99",
            "bytesPerMembership",
            "allocatedBytesPerEvent",
            "allocatedBytesPerQuery");
    for (String query : List.of("queryFinalNanos", "queryInterleavedNanos", "queryBusyNanos")) {
      assertThat(json.path(query).fieldNames()).toIterable().containsExactly("p50", "p99", "p999");
      assertThat(json.path(query).path("p50").asLong()).isPositive();
    }
    for (String when : List.of("interleaved", "final")) {
      assertThat(json.path("sums").path(when).path("scores").asLong()).isPositive();
    }
  }

  @Test
  void namesTheFileThatIsMissingOrMalformed() throws IOException {
    assertThatThrownBy(() -> command.run("--corpus", folder.resolve("none.wpix").toString()))
        .isInstanceOf(CommandException.class)
        .hasMessageStartingWith("no such file: ")
        .hasMessageContaining("none.wpix");
    Path text = Files.writeString(folder.resolve("text.wpix"), "not a corpus");
    assertThatThrownBy(() -> command.run("--corpus", text.toString()))
        .isInstanceOf(CommandException.class)
        .hasMessageStartingWith(text.toString())
        .hasMessageContaining("does not begin with 'WPIX'");
  }

  @Test
  void writesWhatItCanMeasure() throws Exception {
    String file = folder.resolve("written.wpix").toString();
    assertThat(command.run("--cell", "F", "--requests", "40", "--engines", "2", "--write", file))
        .isEqualTo(Exit.OK);
    assertThat(command.out()).contains("interleaved Sums[scores=");
    assertThat(command.run("--corpus", file, "--rounds", "1", "--warm-up", "0")).isEqualTo(Exit.OK);
    assertThat(command.out()).contains("written.wpix: exact");
  }

  @Test
  void refusesWhatDoesNotGoTogether() {
    command.assertMisused("give --corpus or --cell", "--corpus", "a.wpix", "--cell", "B");
    command.assertMisused("--engines, --requests and --trace need --cell", "--engines", "3");
    command.assertMisused("--engines=0", "--cell", "B", "--engines", "0");
    String file = folder.resolve("g.wpix").toString();
    command.assertMisused("WPIX has no groups: cell G", "--cell", "G", "--write", file);
    assertThat(Path.of(file)).doesNotExist();
  }

  @Test
  void namesTheLineOfATraceThatIsMalformed() throws IOException {
    Path trace = folder.resolve("trace.jsonl");
    Files.writeString(
        trace,
        "{\"timestamp\":0,\"input_length\":600,\"output_length\":1,\"hash_ids\":[0,1]}\n{oops\n");
    assertThatThrownBy(() -> command.run("--cell", "B", "--trace", trace.toString()))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("trace.jsonl: line 2: no JSON object");
  }

  @Test
  void refusesNoRounds() {
    command.assertMisused("--rounds", "--rounds", "0");
  }
}
