package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.study.VirtualLog;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class LogCommandsTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path folder;
  private final StringWriter out = new StringWriter();
  private String log = "";

  @BeforeEach
  void writeALog() throws Exception {
    log = VirtualLog.write(folder.resolve("log.jsonl"), StepCost.H100X4, 150, 2).toString();
  }

  @Test
  void fitWritesACostThatPlanReads() throws Exception {
    String cost = folder.resolve("cost.json").toString();
    assertThat(run("fit", log, "--out", cost, "--json")).isEqualTo(Exit.OK);
    JsonNode fit = JSON.readTree(out.toString());
    assertThat(fit.path("base_ms").asDouble()).isBetween(13.5, 16.5);
    assertThat(fit.path("held_out").asInt()).isPositive();
    assertThat(fit.path("ttft_error").asDouble()).isBetween(0.0, 0.1);
    out.getBuffer().setLength(0);
    String[] plan = {
      "plan", log, "--slo-ttft", "2000", "--cost", cost, "--policies", "warm,sticky", "--json"
    };
    assertThat(run(plan)).isEqualTo(Exit.OK);
    JsonNode found = JSON.readTree(out.toString());
    assertThat(found.path("policies")).hasSize(2);
    assertThat(found.path("policies").path(0).path("policy").asText()).isEqualTo("warm");
    assertThat(found.path("policies").path(0).path("replicas").asInt()).isBetween(1, 20);
    assertThat(found.path("policies").path(0).path("ttftMs").path("p90").asDouble())
        .isBetween(1.0, 2_000.0);
    assertThat(found.path("policies").path(0).path("hitRate").asDouble()).isBetween(0.1, 1.0);
    assertThat(found.path("measuredTtftMs").path("p90").asDouble()).isPositive();
    assertThat(found.path("prefillRatio").asDouble()).isBetween(0.05, 50.0);
  }

  @Test
  void bothPrintForPeople() throws Exception {
    assertThat(run("fit", log)).isEqualTo(Exit.OK);
    assertThat(out.toString()).contains("each step", "error of TTFT");
    out.getBuffer().setLength(0);
    assertThat(run("plan", log, "--slo-ttft", "2000", "--policies", "warm")).isEqualTo(Exit.OK);
    assertThat(out.toString())
        .contains("as logged: TTFT", "policy", "\nwarm ", "prefills to a decode");
  }

  @Test
  void aGoalThatNoFleetReachesIsAFailure() throws Exception {
    assertThat(run("plan", log, "--slo-ttft", "1", "--policies", "warm", "--max-replicas", "2"))
        .isEqualTo(Exit.FAILED);
    assertThat(out.toString()).contains("> 2");
  }

  @Test
  void aLogOfSeveralModelsNeedsAChoice() throws Exception {
    List<String> lines = new ArrayList<>(Files.readAllLines(Path.of(log)));
    int all = lines.size();
    lines.replaceAll(line ->
        line.hashCode() % 2 == 0 ? line.replace("\"model\":\"m\"", "\"model\":\"n\"") : line);
    Files.write(Path.of(log), lines);
    fails("log.jsonl: several models, choose one by --model: m, n", "fit", log);
    fails("--model: 'x' is not in", "plan", log, "--slo-ttft", "10", "--model", "x");
    assertThat(run("fit", log, "--model", "m", "--json")).isEqualTo(Exit.OK);
    JsonNode fit = JSON.readTree(out.toString());
    assertThat(fit.path("fitted").asInt() + fit.path("held_out").asInt()).isLessThan(all - 50);
  }

  @Test
  void errorsNameFlagAndFile() throws Exception {
    fails("none.jsonl: no such file", "fit", folder.resolve("none.jsonl").toString());
    fails("--step-tokens: must be", "fit", log, "--step-tokens", "0");
    fails("--slo-ttft: must be", "plan", log, "--slo-ttft", "0");
    fails("--growth: must be", "plan", log, "--slo-ttft", "1", "--growth", "-1");
    fails("--kv-tokens: must be", "plan", log, "--slo-ttft", "1", "--kv-tokens", "1");
    fails("--policies: unknown policy 'x'", "plan", log, "--slo-ttft", "1", "--policies", "x");
    fails("--cost: 'x' is no engine cost", "plan", log, "--slo-ttft", "1", "--cost", "x");
    Path few = Files.write(folder.resolve("few"), Files.readAllLines(Path.of(log)).subList(0, 9));
    fails("few: 8 streamed answers", "fit", few.toString());
    Path bad = Files.writeString(folder.resolve("bad"), "{\"format\":\"other\",\"version\":1}\n");
    fails("bad: line 1: format 'other'", "fit", bad.toString());
    Path none = Files.writeString(folder.resolve("none"), "");
    fails("none: no request that", "plan", none.toString(), "--slo-ttft", "1");
  }

  private void fails(String message, String... args) {
    assertThatThrownBy(() -> run(args))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(message);
  }

  private int run(String... args) throws Exception {
    CommandLine line = new CommandLine(new SimulateCommand());
    line.setOut(new PrintWriter(out, true));
    line.setExecutionExceptionHandler((failure, command, parsed) -> {
      throw failure;
    });
    CommandLine.ParseResult parsed = line.parseArgs(args);
    Object command = parsed.subcommand().commandSpec().userObject();
    return ((dev.warmpath.router.cli.WarmpathCommand) command).call();
  }
}
