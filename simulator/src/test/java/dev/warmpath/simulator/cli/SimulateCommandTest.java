package dev.warmpath.simulator.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.TestProgram;
import dev.warmpath.router.routing.Policies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SimulateCommandTest {

  @TempDir Path folder;

  private final TestProgram program = new TestProgram();
  private Path trace = Path.of("");

  @BeforeEach
  void makeTrace() throws IOException {
    trace =
        Files.writeString(
            folder.resolve("chats.jsonl"), "{\"seconds\": 30, \"sessions\": 40, \"think\": 2}");
  }

  @Test
  void printsATableForEachSetting() {
    assertThat(run("--policies", "warm,random", "--replicas", "2,3", "--seeds", "2"))
        .isEqualTo(Exit.OK);
    assertThat(program.out())
        .contains("chats, 2 × 2M tokens, rate 1.00, index exact")
        .contains("chats, 3 × 2M tokens, rate 1.00, index exact")
        .contains("  warm ", "  random ", "if it forgets nothing");
    assertThat(program.err()).isEmpty();
  }

  @Test
  void allIsEveryPolicy() {
    run("--policies", "all", "--replicas", "2", "--json");
    assertThat(json().path("cells").findValuesAsText("policy"))
        .containsExactlyElementsOf(Policies.names());
  }

  @Test
  void printsOneObjectOnTheLastLineAndTheTableToStderr() {
    run("--policies", "warm:miss-weight=4", "--json", "--index", "exact,delayed:50,approx");
    assertThat(program.out().lines()).hasSize(1);
    assertThat(program.err()).contains("index delayed:50");
    assertThat(json().path("cells").findValuesAsText("index"))
        .containsExactly("exact", "delayed:50", "approx");
    assertThat(json().path("cells").get(0).path("load").isNull()).isTrue();
    JsonNode speed = json().path("speed");
    assertThat(speed.path("requestsPerSecond").asLong()).isPositive();
    assertThat(speed.path("maxHeapMb").asLong()).isPositive();
    assertThat(json().path("setup").path("command").asText())
        .isEqualTo(
            "warmpath simulate --trace "
                + trace
                + " --format generate --policies warm:miss-weight=4 --json --index"
                + " exact,delayed:50,approx");
  }

  @Test
  void flagsChangeWhatIsRun() {
    run("--json", "--policies", "random");
    JsonNode usual = json().path("cells").get(0);
    assertThat(run("--json", "--policies", "random", "--cost", "dynamo")).isEqualTo(Exit.OK);
    assertThat(last().path("ttftMs")).isNotEqualTo(usual.path("ttftMs"));
    run("--json", "--policies", "random", "--warm-up", "50%");
    assertThat(last().path("requests").asInt()).isLessThan(usual.path("requests").asInt());
    run("--json", "--policies", "random", "--copies", "3", "--warm-up", "0");
    assertThat(last().path("requests").asInt())
        .isGreaterThan(2 * usual.path("requests").asInt())
        .isEqualTo(3 * json().path("setup").path("traceRequests").asInt());
    run("--json", "--policies", "random", "--kv-tokens", "8000", "--host-kv-tokens", "500000");
    assertThat(json().path("cells").get(0).path("hostHitRate").asDouble()).isPositive();
    run("--json", "--policies", "random", "--kv-tokens", "64");
    assertThat(last().path("rejected").asInt()).isPositive();
  }

  @Test
  void comparesNumbersOfRoutersWithinASetting() {
    run("--policies", "warm", "--replicas", "2", "--routers", "1,3", "--share-ms", "2,5:1:0.1,off");
    assertThat(program.out().lines().filter(line -> line.startsWith("  warm")))
        .extracting(line -> line.strip().split("  ")[0])
        .containsExactlyInAnyOrder(
            "warm",
            "warm, 3 routers, 2 ms",
            "warm, 3 routers, 5:1:0.1 ms",
            "warm, 3 routers, apart");
  }

  @Test
  void comparesChangesByMinute() throws Exception {
    trace =
        Files.writeString(
            folder.resolve("long.jsonl"), "{\"seconds\": 900, \"sessions\": 300, \"think\": 2}");
    Path study = folder.resolve("study");
    String changes = "none,leave:least-worth,leave:1,join:cold";
    List<String> flags =
        List.of(
            "--policies",
            "warm",
            "--replicas",
            "2",
            "--change",
            changes,
            "--change-at",
            "200",
            "--seeds",
            "2",
            "--json",
            "--out",
            study.toString());
    assertThat(run(flags.toArray(String[]::new))).isEqualTo(Exit.OK);
    assertThat(program.err())
        .contains("  warm ", "  warm, leave:1 ", "  TTFT p99 ", "  join:cold ")
        .contains("  TTFT mean of ten minutes, more than with none, seed by seed");
    JsonNode cells = json().path("cells");
    assertThat(cells.findValuesAsText("change")).containsExactly(changes.split(","));
    JsonNode minutes = cells.get(0).path("minutes");
    assertThat(minutes.findValuesAsText("minute"))
        .containsExactly("-3", "-2", "-1", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9");
    double counted = 0;
    for (JsonNode minute : minutes) {
      counted += minute.path("minute").asInt() < 0 ? 0 : minute.path("requests").asDouble();
    }
    assertThat(counted).isEqualTo(cells.get(0).path("requests").asDouble());
    for (int i = 0; i < 3; i++) {
      assertThat(cells.get(1).path("minutes").get(i)).as("before").isEqualTo(minutes.get(i));
    }
    assertThat(cells.get(1).path("minutes").get(4)).isNotEqualTo(minutes.get(4));
    assertThat(cells.get(0).path("ttftBySeedMs")).hasSize(2);
    assertThat(json().path("setup").path("changeSeconds").asDouble()).isEqualTo(200);
    assertThat(Files.readString(study.resolve("minutes-1.svg")))
        .startsWith("<svg")
        .contains("<style>", "minutes after the change", "leave:1");
    assertThat(Files.readString(study.resolve("report.html")))
        .contains("warm: by minute", "the ten minutes after 200 s");
    assertThat(execute("compare", study + "/cells.json", study + "/cells.json")).isEqualTo(Exit.OK);
    assertThat(program.out()).contains("warm, leave:least-worth");
  }

  @Test
  void aChangeHasTenMinutesAndAReplicaThatStays() {
    assertThat(run("--change", "join:cold")).isEqualTo(Exit.USAGE);
    assertThat(program.err())
        .startsWith("warmpath simulate: --change-at: must be at most -569: ")
        .contains(": at rate 1.00 arrivals end after ", "and ten minutes are counted");
    assertThat(run("--change", "leave:0", "--replicas", "1")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--change: the only replica cannot leave (--replicas 1)");
    assertThat(run("--change", "join:cold", "--prefills", "1")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--change: engines in pairs do not change (--prefills)");
  }

  @Test
  void writesJsonCsvAndAPage() throws Exception {
    Path study = folder.resolve("a/study");
    run("--policies", "warm,random", "--seeds", "2", "--out", study.toString());
    JsonNode cells = new ObjectMapper().readTree(study.resolve("cells.json").toFile());
    assertThat(cells.path("cells")).hasSize(2);
    assertThat(Files.readAllLines(study.resolve("cells.csv"))).hasSize(3);
    assertThat(Files.readString(study.resolve("report.html")))
        .contains("--policies warm,random --seeds 2 --out")
        .contains("a step takes 15 ms")
        .contains("<svg");
    assertThat(program.err()).contains(study.resolve("report.html").toString());
  }

  @Test
  void showsProgressIfAsked() {
    run("--policies", "random", "--progress");
    assertThat(program.err()).contains("simulate", "####");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--policies | warm,best | --policies best: unknown policy 'best', must be one of aibrix,",
        "--policies | warm:depth=1 | --policies warm:depth=1: policy 'warm' has no option 'depth'",
        "--replicas | 4,0 | --replicas 0: must be from 1 to 100000",
        "--kv-tokens | 31 | --kv-tokens 31: must be from 32 to 1073741824",
        "--host-kv-tokens | -1 | --host-kv-tokens -1: must be from 0 to 1073741824",
        "--rate | 0 | --rate 0.0: must be from",
        "--load | -1 | --load -1.0: must be from",
        "--index | exactly | --index exactly: 'exactly' is no index, must be exact, delayed:MS",
        "--index | delayed:-5 | --index delayed:-5: ",
        "--routers | 0 | --routers 0: must be from 1 to 1000",
        "--share-ms | soon | --share-ms soon: 'soon' must be off, MS, MS:JITTER_MS or",
        "--change | leave | --change leave: must be none, leave:least-worth, leave:most-worth,",
        "--change | none,leave:8 | --change leave:8: engines are from 0 to 7",
        "--change-at | -1 | --change-at -1.0: must be from 0 to 1000000000",
        "--copies | -1 | --copies -1: must be from 0 to",
        "--copies | 100000000 | --copies 100000000: must be from 0 to",
        "--spread-ms | -1 | --spread-ms -1.0: must be from 0 to",
        "--seeds | 0 | --seeds 0: must be from 1 to",
        "--warm-up | 110% | --warm-up 110%: must be a share from 0 to 1",
        "--cost | a100 | --cost a100: 'a100' is no engine cost, must be h100x4, dynamo",
        "--requests | 0 | --requests 0: must be at least 1",
      })
  void namesTheFlagAndTheValueThatIsWrong(String flag, String value, String message) {
    assertThat(run(flag, value)).isEqualTo(Exit.USAGE);
    assertThat(program.err()).startsWith("warmpath simulate: " + message);
  }

  @Test
  void namesWhatIsMissingOrDoesNotGoTogether() {
    assertThat(execute("--format", "generate")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--trace is missing");
    assertThat(execute("--trace", trace.toString())).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--format is missing");
    assertThat(execute("--trace", trace.toString(), "--format", "csv")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--format csv: must be one of mooncake, bailian, delta,");
    assertThat(run("--rate", "1", "--load", "1")).isEqualTo(Exit.USAGE);
    assertThat(program.err()).contains("--rate and --load exclude each other");
  }

  @Test
  void namesTheFileThatCannotBeReadOrWritten() throws IOException {
    Path bad = Files.writeString(folder.resolve("bad.jsonl"), "{}\n{\"sessions\": 0}\n");
    assertThat(execute("--trace", bad.toString(), "--format", "generate")).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("--trace: " + bad + ": line 2: 'sessions' is 0");
    assertThat(run("--out", bad.toString())).isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("--out " + bad + ": cannot be made: ");
  }

  @Test
  void comparesTwoStudies() throws Exception {
    run("--policies", "warm,random", "--seeds", "2", "--out", folder.resolve("a").toString());
    String before = folder.resolve("a/cells.json").toString();
    Path after = folder.resolve("b.json");
    String slower =
        Files.readString(Path.of(before)).replaceFirst("(\"mean\" : )\\d+", "$1" + "99999");
    Files.writeString(after, slower);
    assertThat(execute("compare", before, before, "--fail-above", "0")).isEqualTo(Exit.OK);
    assertThat(program.out()).contains("  warm ", "1.000").doesNotContain("*");
    assertThat(execute("compare", before, after.toString())).isEqualTo(Exit.OK);
    assertThat(program.out()).contains("*");
    assertThat(execute("compare", before, after.toString(), "--fail-above", "5%"))
        .isEqualTo(Exit.FAILED);
    assertThat(program.err())
        .isEqualToIgnoringNewLines("worse: warm, chats, 8 × 2M tokens, rate 1.00, index exact");
    assertThat(execute("compare", before, after.toString(), "--fail-above", "much"))
        .isEqualTo(Exit.USAGE);
    assertThat(execute("compare", before, folder.resolve("c.json").toString()))
        .isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("no such file: " + folder.resolve("c.json"));
    assertThat(execute("compare", before)).isEqualTo(Exit.USAGE);
  }

  @Test
  void studiesWithNothingInCommonAreAnError() throws Exception {
    run("--policies", "warm", "--out", folder.resolve("a").toString());
    run("--policies", "random", "--out", folder.resolve("b").toString());
    String before = folder.resolve("a/cells.json").toString();
    assertThat(execute("compare", before, folder.resolve("b/cells.json").toString()))
        .isEqualTo(Exit.FAILED);
    assertThat(program.err()).contains("have no cell in common");
  }

  private JsonNode json() {
    try {
      List<String> lines = program.out().lines().toList();
      return new ObjectMapper().readTree(lines.get(lines.size() - 1));
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private JsonNode last() {
    JsonNode cells = json().path("cells");
    return cells.get(cells.size() - 1);
  }

  private int run(String... args) {
    List<String> all =
        new ArrayList<>(List.of("--trace", trace.toString(), "--format", "generate"));
    all.addAll(List.of(args));
    return execute(all.toArray(String[]::new));
  }

  private int execute(String... args) {
    List<String> all = new ArrayList<>(List.of("simulate"));
    all.addAll(List.of(args));
    return program.run(all.toArray(String[]::new));
  }
}
