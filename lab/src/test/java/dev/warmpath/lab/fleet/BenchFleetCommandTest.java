package dev.warmpath.lab.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.lab.bench.LoopbackPorts;
import dev.warmpath.lab.bench.TestCommand;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

@EnabledOnOs(OS.LINUX)
class BenchFleetCommandTest {

  @TempDir private Path dir;

  private final TestCommand command = new TestCommand(BenchFleetCommand::new);

  @Test
  @Timeout(300)
  void measuresOurPoliciesBeforeTheSameLoad() throws Exception {
    assertThat(
            command.runWithLogs(
                dir, "--short", "--json", "--engine-port=0", "--speed=5", "--seconds=2"))
        .as(command.err())
        .isEqualTo(Exit.OK);

    JsonNode json = command.json();
    JsonNode cells = json.path("cells");
    assertThat(cells.findValuesAsText("router")).containsExactly("warm", "round-robin");
    for (JsonNode cell : cells) {
      assertThat(cell.path("requests").asInt()).isEqualTo(cells.at("/0/requests").asInt());
      assertThat(cell.path("requests").asInt()).isPositive();
      assertThat(cell.path("errors").asInt()).isZero();
      assertThat(cell.path("hitRate").asDouble()).isBetween(0.05, 0.99);
      assertThat(cell.at("/ttftMs/p50").asDouble()).isPositive();
      assertThat(cell.at("/ttftMs/p99").asDouble())
          .isGreaterThanOrEqualTo(cell.at("/ttftMs/p50").asDouble());
      assertThat(cell.path("tpotMs").asDouble()).isPositive();
    }
    JsonNode warm = json.at("/totals/0");
    assertThat(warm.at("/hitRate/mean")).isEqualTo(cells.at("/0/hitRate"));
    assertThat(warm.at("/hitRate/ci95").isNull()).as("one seed has no interval").isTrue();
    assertThat(warm.at("/ratios/ttftMeanMs/mean").asDouble()).isEqualTo(1);
    assertThat(command.err()).contains("seed 1, warm: n ", "seed 1, round-robin: n ");
  }

  /** The peer is a router of ours, started by a command as any other. */
  @Test
  @Timeout(300)
  void peerIsStartedAndStoppedAndAFailedRouterLosesItsTurnOnly() throws Exception {
    int engine = freeEnginePort();
    int port = LoopbackPorts.free();
    String shell = "echo $$ > '%s'; exec %s".formatted(dir.resolve("pid"), serve(port, engine));
    int exit =
        command.runWithLogs(
            dir,
            "--short",
            "--json",
            "--engines=1",
            "--seconds=1",
            "--rate=6",
            "--speed=5",
            "--policies=wrong",
            "--engine-port=" + engine,
            "--router=peer=http://127.0.0.1:" + port + "@" + shell);

    assertThat(exit).as(command.err()).isEqualTo(Exit.FAILED);
    JsonNode json = command.json();
    assertThat(json.path("cells").findValuesAsText("router")).containsExactly("peer");
    assertThat(json.at("/cells/0/requests").asInt()).isPositive();
    assertThat(json.at("/cells/0/errors").asInt()).isZero();
    assertThat(json.at("/totals/1/ratios/hitRate/mean").isNull())
        .as("the first router has no turn to compare with")
        .isTrue();
    assertThat(json.at("/failures/0/router").asText()).isEqualTo("wrong");
    assertThat(json.at("/failures/0/error").asText())
        .startsWith("the router ended with 2:")
        .contains("policy.name");
    long pid = Long.parseLong(Files.readString(dir.resolve("pid")).strip());
    assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
  }

  @Test
  @Timeout(120)
  void peerThatEndsAndPortsThatAreTakenAreNamed() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      int port = taken.getLocalPort();
      int exit =
          command.runWithLogs(
              dir,
              "--short",
              "--json",
              "--engines=1",
              "--engine-port=0",
              "--policies=none",
              "--router=ends=http://127.0.0.1:"
                  + LoopbackPorts.free()
                  + "@echo no such flag; exit 3",
              "--router=taken=http://127.0.0.1:" + port + "@sleep 600");
      assertThat(exit).isEqualTo(Exit.FAILED);
      assertThat(command.json().path("cells")).isEmpty();
      assertThat(command.json().at("/failures/0/error").asText())
          .startsWith("ends ended with 3:")
          .contains("no such flag");
      assertThat(command.json().at("/failures/1/error").asText())
          .startsWith("taken: something listens on http://127.0.0.1:" + port);

      assertThatThrownBy(
              () -> command.runWithLogs(dir, "--short", "--engines=1", "--engine-port=" + port))
          .isInstanceOf(CommandException.class)
          .hasMessageStartingWith("engine 0 has ended")
          .hasMessageContaining(Integer.toString(port));
    }
  }

  @Test
  void wrongUsageIsNamed() {
    command.assertMisused("'peer' must be NAME=http://HOST:PORT[@COMMAND]", "--router=peer");
    command.assertMisused("must have a host and a port", "--router=peer=http://127.0.0.1");
    command.assertMisused("no routers, or two of one name", "--policies=warm,warm");
    command.assertMisused("no routers, or two of one name", "--policies=none");
    command.assertMisused("engines=0, not 1 to 100", "--engines=0");
    command.assertMisused("seeds=[1, 1]", "--seeds=1,1");
    command.assertMisused("at most 20000 sessions", "--rate=1000", "--seconds=21");
    command.assertMisused("engine port 65500", "--engine-port=65500");
  }

  @Test
  void helpShowsACommandThatCanBeCopied() {
    assertThat(new CommandLine(new BenchFleetCommand()).getUsageMessage())
        .contains("$(seq -s \" \" -f http://127.0.0.1:%g 18101 18104)");
  }

  private String serve(int port, int engine) {
    List<String> arguments = new ArrayList<>(List.of("serve", "--port", Integer.toString(port)));
    arguments.addAll(List.of("--admin-port", "0", "--set", "snapshot.enabled=false"));
    arguments.addAll(List.of("--set", "warm-up.seconds=0"));
    arguments.addAll(List.of("--tokenizer", "warmpath-demo=embedded"));
    String replica = "r0=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d";
    arguments.addAll(List.of("--replica", replica.formatted(engine, engine + 100, engine + 200)));
    return JavaCommand.warmpath(arguments).stream()
        .map(word -> "'" + word + "'")
        .collect(Collectors.joining(" "));
  }

  /** The first port of an engine; its others are free too. */
  private static int freeEnginePort() throws IOException {
    while (true) {
      int first = LoopbackPorts.free();
      if (IntStream.of(100, 200).allMatch(offset -> LoopbackPorts.keep(first + offset))) {
        return first;
      }
    }
  }
}
