package dev.warmpath.lab.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.lab.bench.JavaCommand;
import dev.warmpath.lab.bench.LoopbackPorts;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
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

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @Test
  @Timeout(300)
  void measuresOurPoliciesBeforeTheSameLoad() throws Exception {
    assertThat(run("--short", "--json", "--engine-port=0", "--speed=5"))
        .as(err.toString())
        .isEqualTo(Exit.OK);

    JsonNode json = json();
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
    assertThat(err.toString()).contains("seed 1, warm: n ", "seed 1, round-robin: n ");
  }

  /** The peer is a router of ours, started by a command as any other. */
  @Test
  @Timeout(300)
  void peerIsStartedAndStoppedAndAFailedRouterLosesItsTurnOnly() throws Exception {
    int engines = freeEnginePorts();
    int port = LoopbackPorts.free();
    String command = "echo $$ > '%s'; exec %s".formatted(dir.resolve("pid"), serve(port, engines));
    int exit =
        run(
            "--short",
            "--json",
            "--seconds=1",
            "--rate=6",
            "--speed=5",
            "--policies=wrong",
            "--engine-port=" + engines,
            "--router=peer=http://127.0.0.1:" + port + "@" + command);

    assertThat(exit).as(err.toString()).isEqualTo(Exit.FAILED);
    JsonNode json = json();
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
          run(
              "--short",
              "--json",
              "--engine-port=0",
              "--policies=none",
              "--router=ends=http://127.0.0.1:"
                  + LoopbackPorts.free()
                  + "@echo no such flag; exit 3",
              "--router=taken=http://127.0.0.1:" + port + "@sleep 600");
      assertThat(exit).isEqualTo(Exit.FAILED);
      assertThat(json().path("cells")).isEmpty();
      assertThat(json().at("/failures/0/error").asText())
          .startsWith("ends ended with 3:")
          .contains("no such flag");
      assertThat(json().at("/failures/1/error").asText())
          .startsWith("taken: something listens on http://127.0.0.1:" + port);

      assertThatThrownBy(() -> run("--short", "--engines=1", "--engine-port=" + port))
          .isInstanceOf(CommandException.class)
          .hasMessageStartingWith("engine 0 has ended")
          .hasMessageContaining(Integer.toString(port));
    }
  }

  @Test
  void wrongUsageIsNamed() {
    assertMisused("'peer' must be NAME=http://HOST:PORT[@COMMAND]", "--router=peer");
    assertMisused("must have a host and a port", "--router=peer=http://127.0.0.1");
    assertMisused("no routers, or two of one name", "--policies=warm,warm");
    assertMisused("no routers, or two of one name", "--policies=none");
    assertMisused("engines=0, not 1 to 100", "--engines=0");
    assertMisused("seeds=[1, 1]", "--seeds=1,1");
    assertMisused("at most 20000 sessions", "--rate=1000", "--seconds=21");
    assertMisused("engine port 65500", "--engine-port=65500");
  }

  @Test
  void helpShowsACommandThatCanBeCopied() {
    assertThat(new CommandLine(new BenchFleetCommand()).getUsageMessage())
        .contains("$(seq -s \" \" -f http://127.0.0.1:%g 18101 18104)");
  }

  private void assertMisused(String message, String... args) {
    assertThatThrownBy(() -> run(args))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(message);
  }

  private String serve(int port, int engines) {
    List<String> arguments = new ArrayList<>(List.of("serve", "--port", Integer.toString(port)));
    arguments.addAll(List.of("--admin-port", "0", "--set", "snapshot.enabled=false"));
    arguments.addAll(List.of("--set", "warm-up.seconds=0"));
    arguments.addAll(List.of("--tokenizer", "warmpath-demo=embedded"));
    for (int i = 0; i < 2; i++) {
      int at = engines + i;
      String replica =
          "r%d=http://127.0.0.1:%d,events=tcp://127.0.0.1:%d,replay=tcp://127.0.0.1:%d";
      arguments.addAll(List.of("--replica", replica.formatted(i, at, at + 100, at + 200)));
    }
    return JavaCommand.warmpath(arguments).stream()
        .map(word -> "'" + word + "'")
        .collect(Collectors.joining(" "));
  }

  /** The first of the ports of two engines. */
  private static int freeEnginePorts() throws IOException {
    while (true) {
      int first = LoopbackPorts.free();
      if (IntStream.of(1, 100, 101, 200, 201)
          .allMatch(offset -> LoopbackPorts.keep(first + offset))) {
        return first;
      }
    }
  }

  private JsonNode json() throws IOException {
    List<String> lines = out.toString().lines().toList();
    return new ObjectMapper().readTree(lines.get(lines.size() - 1));
  }

  private int run(String... args) throws Exception {
    BenchFleetCommand command = new BenchFleetCommand();
    CommandLine line = new CommandLine(command);
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    List<String> all = new ArrayList<>(List.of(args));
    all.add("--dir=" + dir);
    line.parseArgs(all.toArray(String[]::new));
    return command.call();
  }
}
