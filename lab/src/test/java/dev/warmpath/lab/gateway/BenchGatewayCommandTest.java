package dev.warmpath.lab.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.TestCommand;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
class BenchGatewayCommandTest {

  @TempDir private Path dir;

  private final TestCommand command = new TestCommand(BenchGatewayCommand::new);

  /** The peer is a stub of this process, which passes for a gateway in front of the others. */
  @Test
  @Timeout(180)
  void measuresOurRouterAndAPeer() throws Exception {
    try (StubServer peer = new StubServer("m", List.of(0))) {
      String beside = "peer=http://127.0.0.1:" + peer.ports().get(0);
      String[] flags = {
        "--short",
        "--json",
        "--cells=2k-plain",
        "--rounds=2",
        "--seconds=0.3",
        "--lead-in=0.1",
        "--warm-up=0.1",
        "--states=0,1",
        "--cold=0",
        "--idle=0",
        "--set=tokenizing.deadline-ms=60000",
        "--set=warm-up.seconds=0",
        "--beside=" + beside
      };
      assertThat(command.runWithLogs(dir, flags)).as(command.err()).isEqualTo(Exit.OK);
    }
    JsonNode json = command.json();
    assertThat(json.path("cells")).hasSize(3);
    for (JsonNode cell : json.path("cells")) {
      assertThat(cell.path("n").asInt()).isEqualTo(180);
      assertThat(cell.path("errors").asInt()).isZero();
      assertThat(cell.path("firstByteMicros").path("p50").asDouble()).isPositive();
      if (cell.path("name").asText().equals("warmpath")) {
        assertThat(cell.path("cpuMicrosPerRequest").path("median").asDouble()).isPositive();
      }
    }
    assertThat(json.path("cells").findValuesAsText("name"))
        .containsExactly("direct", "warmpath", "peer");
    assertThat(json.path("secondsToReady").asDouble()).isPositive();
    JsonNode states = json.path("states");
    assertThat(states.path("ready").path("residentMib").asInt()).isGreaterThan(20);
    assertThat(states.path("list").findValuesAsText("name"))
        .containsExactly("warmpath", "peer", "warmpath", "peer");
    assertThat(states.path("list").findValuesAsText("afterSeconds"))
        .containsExactly("0", "0", "1", "1");
    for (JsonNode state : states.path("list")) {
      assertThat(state.path("n").asInt()).isEqualTo(300);
      assertThat(state.path("residentMib").asInt()).isGreaterThan(20);
      assertThat(state.path("threads").asInt()).isPositive();
    }
    assertThat(states.path("list").path(2).path("cpuMicrosPerRequestBefore").asDouble())
        .isEqualTo(states.path("list").path(0).path("cpuMicrosPerRequest").asDouble());
    assertThat(json.path("fallbacks").asInt()).isZero();
  }

  @Test
  @Timeout(60)
  void portThatIsTakenIsNamed() throws Exception {
    try (StubServer other = new StubServer("m", List.of(0))) {
      String port = Integer.toString(other.ports().get(0));
      assertThatThrownBy(() -> command.runWithLogs(dir, "--short", "--backends", "0," + port))
          .isInstanceOf(CommandException.class)
          .hasMessageContaining("port " + port);
    }
  }

  @Test
  @Timeout(120)
  void routerThatDoesNotComeUpShowsItsLog() {
    assertThatThrownBy(
            () -> command.runWithLogs(dir, "--short", "--warm-up=0", "--set", "policy.name=wrong"))
        .isInstanceOf(CommandException.class)
        .hasMessageStartingWith("the router ended with 2:")
        .hasMessageContaining("policy.name");
  }

  @Test
  void wrongUsageIsNamed() {
    command.assertMisused("no cell '3k-plain'; there are [2k-plain", "--cells=3k-plain");
    command.assertMisused("no cell 'x'", "--rate=x=3");
    command.assertMisused("perSecond=0.0", "--rate=2k-plain=0");
    command.assertMisused("400k-plain has 999900 requests", "--rate=400k-plain=55550");
    command.assertMisused("the warm-up has 201000 requests", "--warm-up=201");
    command.assertMisused("rounds=0", "--rounds=0");
    command.assertMisused("seconds=-1.0", "--cold=-1");
    command.assertMisused("states=[0, 0]", "--states=0,0");
    command.assertMisused("--states [soon] are not seconds", "--states=soon");
    command.assertMisused("must be NAME=http://HOST:PORT", "--beside=haproxy");
    command.assertMisused("port 70000", "--backends=70000");
  }
}
