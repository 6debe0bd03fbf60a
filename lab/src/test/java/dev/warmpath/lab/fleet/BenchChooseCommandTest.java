package dev.warmpath.lab.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

final class BenchChooseCommandTest {

  private final StringWriter out = new StringWriter();

  @Test
  void measuresPoliciesUnderTheSameLoad() throws Exception {
    assertThat(
            run(
                "--json",
                "--policies",
                "round-robin,warm",
                "--engines",
                "8",
                "--requests",
                "1000",
                "--rounds",
                "2"))
        .isEqualTo(Exit.OK);
    List<String> lines = out.toString().lines().toList();
    JsonNode policies = new ObjectMapper().readTree(lines.get(lines.size() - 1)).path("policies");
    for (JsonNode policy : policies) {
      assertThat(policy.path("chooseMicros").path("median").asDouble()).isPositive();
      assertThat(policy.path("endMicros").path("median").asDouble()).isPositive();
    }
    assertThat(policies.path(0).path("ratio").asDouble()).isEqualTo(1);
    assertThat(policies.path(1).path("cachedShare").asDouble())
        .isGreaterThan(policies.path(0).path("cachedShare").asDouble() + .1);
  }

  @Test
  void namesWhatCannotBeMeasured() {
    assertThatThrownBy(() -> run("--policies", "coldest"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("coldest");
    assertThatThrownBy(() -> run("--prompt-tokens", "9000", "--cache-tokens", "8000"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("a cache holds a prompt or more");
  }

  private int run(String... args) {
    BenchChooseCommand command = new BenchChooseCommand();
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(new StringWriter()));
    line.parseArgs(args);
    return command.call();
  }
}
