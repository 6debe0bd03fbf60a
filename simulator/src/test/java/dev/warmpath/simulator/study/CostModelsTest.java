package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.warmpath.simulator.engine.CostModel;
import dev.warmpath.simulator.engine.StepCost;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CostModelsTest {

  @TempDir Path folder;

  @Test
  void someHaveNames() {
    assertThat(CostModels.named("h100x4")).isEqualTo(StepCost.H100X4);
    assertThat(CostModels.named("dynamo")).isEqualTo(CostModel.PolynomialCost.DYNAMO);
  }

  @Test
  void aFileHoldsAnother() throws Exception {
    StepCost cost = new StepCost(1.5, 0.25, 3e-6, 0);
    ObjectNode json = new ObjectMapper().createObjectNode().put("fitted", 7);
    CostModels.addTo(json, cost);
    Path file = Files.writeString(folder.resolve("cost.json"), json.toString());
    assertThat(CostModels.named(file.toString())).isEqualTo(cost);
  }

  @Test
  void errorsNameTheFileAndTheField() throws Exception {
    fails("'h100' is no engine cost, must be h100x4, dynamo or a readable file", "h100");
    Path file = Files.writeString(folder.resolve("cost.json"), "{\"base_ms\":1}");
    fails(file + ": no number 'prefill_token_ms'", file.toString());
    Files.writeString(file, "nonsense");
    fails(file + ": no JSON", file.toString());
    Files.writeString(
        file,
        "{\"base_ms\":-1,\"prefill_token_ms\":1,\"attention_pair_ms\":1,\"decode_context_token_ms\":1}");
    fails(file + ": negative cost", file.toString());
  }

  private static void fails(String message, String name) {
    assertThatThrownBy(() -> CostModels.named(name))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }
}
