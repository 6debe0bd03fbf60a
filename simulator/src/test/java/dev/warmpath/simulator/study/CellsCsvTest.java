package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

final class CellsCsvTest {

  @Test
  void aLineForEachCellBehindAHeader() {
    String csv =
        CellsCsv.of(
            List.of(
                Reports.cell(Cells.cell("warm", 4, 0.5), 10, 1),
                Reports.cell(Cells.cell("say \"a,b\""), 10, Double.NaN)));
    List<String> lines = csv.lines().toList();
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0))
        .startsWith(
            "trace,replicas,kvTokens,load,rate,index,policy,seeds,ttftMeanMs,ttftMeanMsCi95,")
        .endsWith(
            ",infiniteHitRate,poolHitRate,routers,routersBySession,shareMs,prefills,splitRule,transferMs,transferTokenUs,change");
    assertThat(lines.get(1)).startsWith("chats,4,100000,0.5,1.0,exact,warm,3,10.0,1.0,20.0,2.0,");
    assertThat(lines.get(2))
        .startsWith("chats,4,100000,,1.0,exact,\"say \"\"a,b\"\"\",3,10.0,,20.0,,");
    int columns = lines.get(0).split(",", -1).length;
    assertThat(lines.get(1).split(",", -1)).hasSize(columns);
  }
}
