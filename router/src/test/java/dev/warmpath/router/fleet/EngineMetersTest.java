package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.metrics.Metrics;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a scrape shows of engines that come, serve and leave. */
class EngineMetersTest {

  private final Metrics metrics = new Metrics();

  @Test
  void predictionErrorsKeepTheirSign() {
    EngineMeters engine = table(replica("e", 1)).engines().get(0).get(0).meters();
    engine.countPrediction(32, 16);
    engine.countPrediction(0, 16);
    engine.countPrediction(16, 16);
    assertThat(metrics.scrape())
        .contains(
            "warmpath_prediction_error_tokens_bucket{engine=\"e\",le=\"-16.0\"} 1",
            "warmpath_prediction_error_tokens_bucket{engine=\"e\",le=\"0.0\"} 2",
            "warmpath_prediction_error_tokens_bucket{engine=\"e\",le=\"63.0\"} 3",
            "warmpath_predictions_total{engine=\"e\",result=\"over\"} 1.0",
            "warmpath_predictions_total{engine=\"e\",result=\"under\"} 1.0",
            "warmpath_predictions_total{engine=\"e\",result=\"exact\"} 1.0",
            "warmpath_predicted_tokens_total{engine=\"e\",result=\"hit\"} 32.0",
            "warmpath_predicted_tokens_total{engine=\"e\",result=\"over\"} 16.0",
            "warmpath_predicted_tokens_total{engine=\"e\",result=\"under\"} 16.0");
  }

  @Test
  void whatWasCountedLeavesWithTheEngineAndWhatEndsLaterIsNotShown() {
    Replica replica = replica("r", 2);
    EngineTable table = table(replica);
    EngineMeters first = table.engines().get(0).get(0).meters();
    EngineMeters second = table.engines().get(0).get(1).meters();
    countAll(first);
    countAll(second);
    assertThat(metrics.scrape())
        .contains(
            "warmpath_outcomes_total{engine=\"r/1\",outcome=\"completed\"} 1.0",
            "warmpath_first_byte_seconds_count{replica=\"r\"} 2");
    assertThat(table.of(List.of(), ExpectedBlocks.Limits.DEFAULT, metrics).engines()).isEmpty();
    assertThat(metrics.scrape()).doesNotContain("\"r\"", "\"r/");
    countAll(first);
    first.countOutcome(Outcome.FAILED);
    assertThat(metrics.scrape()).doesNotContain("\"r\"", "\"r/");
  }

  @Test
  void anotherReplicaOfTheSameNameBeginsAtZeroAndStays() {
    EngineTable before = table(replica("r", 1));
    EngineMeters old = before.engines().get(0).get(0).meters();
    countAll(old);
    EngineTable after = before.of(List.of(replica("r", 1)), ExpectedBlocks.Limits.DEFAULT, metrics);
    EngineMeters young = after.engines().get(0).get(0).meters();
    countAll(young);
    countAll(old);
    assertThat(metrics.scrape())
        .contains(
            "warmpath_assignments_total{engine=\"r\",policy=\"warm\",reason=\"cache\"} 1.0",
            "warmpath_prompt_tokens_total{engine=\"r\",model=\"other\"} 10.0",
            "warmpath_prediction_error_tokens_count{engine=\"r\"} 1",
            "warmpath_inter_token_seconds_count{replica=\"r\"} 1");
  }

  private static void countAll(EngineMeters engine) {
    engine.countAssignment("warm", "cache");
    engine.countOutcome(Outcome.COMPLETED);
    engine.recordFirstByte(1_000);
    engine.recordTokenGap(1_000);
    engine.countTokens("not served there", 10, 5, 1);
    engine.countPrediction(16, 16);
    engine.countMiscount();
  }

  private EngineTable table(Replica replica) {
    return EngineTable.EMPTY.of(List.of(replica), ExpectedBlocks.Limits.DEFAULT, metrics);
  }

  private static Replica replica(String name, int ranks) {
    return new Replica(name, URI.create("http://" + name), Set.of("m"), ranks);
  }
}
