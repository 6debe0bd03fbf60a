package dev.warmpath.lab.cli.gateway;

import static org.assertj.core.api.Assertions.assertThat;

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
                "--seconds=4",
                "--set=warm-up.seconds=0",
                "--dir=" + dir.resolve("logs"));
    assertThat(exit).as(err.toString()).isEqualTo(Exit.OK);
    List<String> lines = out.toString().lines().toList();
    JsonNode json = new ObjectMapper().readTree(lines.get(lines.size() - 1));
    assertThat(json.path("restarts").asInt()).isEqualTo(1);
    assertThat(json.path("n").asInt()).isEqualTo(80);
    assertThat(json.path("errors").asInt()).isZero();
  }
}
