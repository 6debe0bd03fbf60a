package dev.warmpath.lab.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.TestCommand;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class BenchFootprintCommandTest {

  @TempDir private Path dir;

  private final TestCommand command = new TestCommand(BenchFootprintCommand::new);

  @Test
  @Timeout(180)
  void readsARouterPartByPart() throws Exception {
    assertThat(
            command.runWithLogs(
                dir, "--engines=2", "--blocks=20000", "--bodies-mib=8", "--settle=0", "--json"))
        .isEqualTo(Exit.OK);
    JsonNode parts = command.json().path("parts");
    assertThat(parts.findValuesAsText("name"))
        .containsExactly("alone", "engines", "blocks", "bodies");
    assertThat(parts.path(1).path("blocks").asLong()).isZero();
    assertThat(parts.path(2).path("blocks").asLong()).isBetween(39_600L, 40_000L);
    for (JsonNode part : parts) {
      assertThat(part.path("residentMib").asInt()).isGreaterThan(50);
      assertThat(part.path("threads").asInt()).isGreaterThan(5);
    }
  }

  @Test
  void wrongUsageIsNamed() {
    assertThatThrownBy(() -> command.run("--blocks=9"))
        .isInstanceOf(CommandException.class)
        .hasMessage("--blocks 9 is not 1000 to 10000000");
    assertThatThrownBy(() -> command.run("--engines=1001")).hasMessageContaining("--engines 1001");
  }
}
