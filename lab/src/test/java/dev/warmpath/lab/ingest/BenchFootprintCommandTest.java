package dev.warmpath.lab.ingest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@EnabledOnOs(OS.LINUX)
class BenchFootprintCommandTest {

  @TempDir private Path dir;

  private final StringWriter out = new StringWriter();

  @Test
  @Timeout(180)
  void readsARouterPartByPart() throws Exception {
    assertThat(run("--engines=2", "--blocks=20000", "--bodies-mib=8", "--settle=0", "--json"))
        .isEqualTo(Exit.OK);
    JsonNode parts =
        new ObjectMapper()
            .readTree(out.toString().lines().reduce("", (first, last) -> last))
            .path("parts");
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
    assertThatThrownBy(() -> run("--blocks=9"))
        .isInstanceOf(CommandException.class)
        .hasMessage("--blocks 9 is not 1000 to 10000000");
    assertThatThrownBy(() -> run("--engines=1001")).hasMessageContaining("--engines 1001");
  }

  private int run(String... args) throws Exception {
    BenchFootprintCommand command = new BenchFootprintCommand();
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(new StringWriter()));
    String[] all = Arrays.copyOf(args, args.length + 1);
    all[args.length] = "--dir=" + dir;
    line.parseArgs(all);
    return command.call();
  }
}
