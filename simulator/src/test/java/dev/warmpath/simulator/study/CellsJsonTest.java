package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.warmpath.simulator.engine.Link;
import dev.warmpath.simulator.fleet.Change;
import dev.warmpath.simulator.fleet.IndexMode;
import dev.warmpath.simulator.fleet.Pairs;
import dev.warmpath.simulator.fleet.Routers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class CellsJsonTest {

  @TempDir Path folder;

  @Test
  void hasTheFieldsThatOthersRead() throws Exception {
    JsonNode json =
        new ObjectMapper().readTree(CellsJson.of(Reports.report(Reports.grid())).toString());
    assertThat(json.path("cells")).hasSize(8);
    JsonNode cell = json.path("cells").get(1);
    assertThat(cell.fieldNames())
        .toIterable()
        .startsWith(
            "trace",
            "replicas",
            "kvTokens",
            "load",
            "index",
            "policy",
            "ttftMs",
            "tpotMs",
            "hitRate",
            "goodput",
            "imbalance");
    assertThat(cell.path("ttftMs").toString())
        .isEqualTo("{\"mean\":109.0,\"p50\":218.0,\"p90\":327.0,\"p99\":436.0,\"ci95\":5.0}");
    assertThat(cell.path("load").doubleValue()).isEqualTo(0.8);
    assertThat(cell.path("ci95").path("ttftP99Ms").doubleValue()).isEqualTo(20);
    assertThat(cell.path("infiniteHitRate").doubleValue()).isEqualTo(0.75);
    assertThat(cell.path("poolHitRate").doubleValue()).isEqualTo(0.5);
    JsonNode speed = json.path("speed");
    assertThat(speed.path("requestsPerSecond").intValue()).isEqualTo(20_000);
    assertThat(speed.path("replicas").intValue()).isEqualTo(8);
    assertThat(speed.path("maxHeapMb").intValue()).isEqualTo(512);
  }

  @Test
  void readsWhatItWrote() throws Exception {
    Cell delayed =
        new Cell("t", 2, 64, Double.NaN, 1.5, new IndexMode(IndexMode.Kind.EXACT, 50), "warm");
    Cell tiered =
        new Cell(
            "t",
            2,
            64,
            128,
            0.5,
            1.5,
            IndexMode.NOW,
            "warm",
            new Routers(8, true, new Routers.Sharing(2, 0.5, 0.01)),
            new Pairs(2, "prompt-tokens:min-tokens=512", new Link(2, 4.5)),
            Change.parse("leave:1", 2));
    List<ReportCell> cells =
        List.of(
            Reports.grid().get(0),
            Reports.cell(delayed, 7, Double.NaN),
            Reports.cell(tiered, 8, Double.NaN),
            Reports.cell(Cells.cell("random"), Double.NaN, Double.NaN));
    assertThat(CellsJson.read(file(CellsJson.of(Reports.report(cells)).toPrettyString())))
        .isEqualTo(cells);
  }

  @Test
  void readsWhatWasWrittenBeforeThereWereHostTiers() throws Exception {
    String json =
        CellsJson.of(Reports.report(Reports.grid()))
            .toString()
            .replaceAll(",\"host(HitRate|KvTokens)\":[^,}]*", "");
    ReportCell cell = CellsJson.read(file(json)).get(0);
    assertThat(cell.cell()).isEqualTo(Reports.grid().get(0).cell());
    assertThat(cell.mean(Figure.HOST_HIT_RATE)).isZero();
    assertThat(cell.mean(Figure.REJECTED)).isEqualTo(Reports.grid().get(0).mean(Figure.REJECTED));
  }

  @Test
  void namesTheFileAndTheCellThatIsWrong() throws IOException {
    Path none = folder.resolve("none.json");
    assertThatThrownBy(() -> CellsJson.read(none))
        .isInstanceOf(IOException.class)
        .hasMessage("no such file: " + none);
    assertRefused("no JSON: ", "{oops");
    assertRefused("no list 'cells'", "{}");
    String good = CellsJson.of(Reports.report(Reports.grid())).toString();
    assertRefused(
        "cell 0: 'replicas' is no number", good.replaceFirst("\"replicas\":4", "\"x\":4"));
    assertRefused("cell 0: 'policy' is no string", good.replaceFirst("\"warm\"", "7"));
    assertRefused("cell 0: 'no' is no index", good.replaceFirst("\"exact\"", "\"no\""));
  }

  private void assertRefused(String message, String content) throws IOException {
    Path file = file(content);
    assertThatThrownBy(() -> CellsJson.read(file))
        .isInstanceOf(IOException.class)
        .hasMessageStartingWith(file + ": " + message);
  }

  private Path file(String content) throws IOException {
    return Files.writeString(folder.resolve("cells.json"), content);
  }
}
