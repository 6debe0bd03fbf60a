package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.Exit;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@EnabledOnOs(OS.LINUX)
class BenchRestartCommandTest {

  @TempDir private Path dir;

  /** The delay is long, so that the balancer hears in time even on a busy machine. */
  @Test
  @Timeout(300)
  void restartsARouterUnderLoad() throws Exception {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        new CommandLine(new BenchRestartCommand())
            .setOut(new PrintWriter(out))
            .setErr(new PrintWriter(err))
            .execute(
                "--json",
                "--rate=20",
                "--seconds=8",
                "--delay-ms=3000",
                "--set=warm-up.seconds=0",
                "--dir=" + dir.resolve("logs"));
    assumeThat(err.toString()).doesNotContain("the machine is too busy");
    assertThat(exit).as(err.toString()).isEqualTo(Exit.OK);
    List<String> lines = out.toString().lines().toList();
    JsonNode json = new ObjectMapper().readTree(lines.get(lines.size() - 1));
    assertThat(json.path("restarts").asInt()).isEqualTo(1);
    assertThat(json.path("n").asInt()).isEqualTo(160);
    assertThat(json.path("errors").asInt()).isZero();
  }
}
