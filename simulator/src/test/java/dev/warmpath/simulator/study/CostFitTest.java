package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.trace.LoggedRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CostFitTest {

  @TempDir Path folder;

  /** From nearly idle engines to busy ones. */
  @ParameterizedTest
  @CsvSource({
    "15, 0.07, 2e-6, 3.4e-5, 20",
    "15, 0.07, 2e-6, 3.4e-5, 1.5",
    "15, 0.07, 2e-6, 3.4e-5, 0.5",
    "6, 0.02, 1e-6, 1e-5, 1",
    "40, 0.3, 4e-6, 2e-4, 10"
  })
  void theCostOfAVirtualFleetIsFoundAgain(
      double base, double token, double pair, double context, double seconds) throws Exception {
    StepCost cost = new StepCost(base, token, pair, context);
    List<LoggedRequest> log = log(cost, 1_500, seconds);
    CostFit fit = CostFit.of(log, 8192);
    assertClose(fit.cost(), cost, 10);
    assertThat(fit.ttftError()).isLessThan(0.05);
    assertThat(fit.decodeError()).isLessThan(0.02);
    assertThat(fit.engines()).isEqualTo(4);
    assertThat(fit.fitted() + fit.heldOut()).isEqualTo(log.size());
    assertThat(fit.heldOut()).isBetween(log.size() / 5, log.size() / 5 + 1);
  }

  @Test
  void timesOfARealNetworkDoNotLeadAstray() throws Exception {
    SplittableRandom random = new SplittableRandom(3);
    List<LoggedRequest> noisy = new ArrayList<>();
    for (LoggedRequest request : log(StepCost.H100X4, 1_500, 1.5)) {
      LoggedRequest.Times times = request.times();
      double first = times.firstToken() * (0.95 + 0.1 * random.nextDouble()) + 2;
      double stall = random.nextInt(20) == 0 ? 2_000 : 0; // a client that reads slowly
      double total =
          first + (times.total() - times.firstToken()) * (0.98 + 0.04 * random.nextDouble());
      noisy.add(with(request, first, total + stall));
    }
    CostFit fit = CostFit.of(noisy, 8192);
    assertClose(fit.cost(), StepCost.H100X4, 10);
    assertThat(fit.ttftError()).isLessThan(0.1);
  }

  @Test
  void plainAnswersAreWorkToo() throws Exception {
    List<LoggedRequest> half = new ArrayList<>();
    for (LoggedRequest request : log(StepCost.H100X4, 1_500, 1.5)) {
      boolean plain = half.size() % 2 == 0;
      half.add(plain ? with(request, Double.NaN, request.times().total()) : request);
    }
    CostFit fit = CostFit.of(half, 8192);
    assertClose(fit.cost(), StepCost.H100X4, 10);
    assertThat(fit.fitted() + fit.heldOut()).isEqualTo(half.size() / 2);
  }

  @Test
  void tooFewAnswersAreAnError() throws Exception {
    List<LoggedRequest> log = log(StepCost.H100X4, 100, 5);
    assertThatThrownBy(() -> CostFit.of(log.subList(0, 49), 8192))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("49 streamed answers with known lengths, at least 50 are needed");
    assertThat(CostFit.of(log.subList(0, 50), 8192).heldOut()).isEqualTo(10);
  }

  @Test
  void whatNothingDependsOnIsZero() {
    List<CostFit.Equation> equations = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      equations.add(new CostFit.Equation(i, 0, 0, 0, 7 * i));
    }
    StepCost cost = CostFit.LeastErrors.of(equations);
    assertThat(cost.baseMillis()).isCloseTo(7, withinPercentage(0.1));
    assertThat(cost.prefillTokenMillis() + cost.attentionMillis() + cost.decodeContextMillis())
        .isZero();
  }

  @Test
  void noCostIsNegative() {
    List<CostFit.Equation> equations = new ArrayList<>();
    for (int i = 1; i <= 20; i++) {
      equations.add(new CostFit.Equation(1, 100 * i, 0, 0, 50 - i)); // more tokens, less time
    }
    StepCost cost = CostFit.LeastErrors.of(equations);
    assertThat(cost.prefillTokenMillis()).isZero();
    assertThat(cost.baseMillis()).isBetween(30.0, 49.0);
  }

  private List<LoggedRequest> log(StepCost cost, int chats, double seconds) throws Exception {
    Path file = VirtualLog.write(folder.resolve("log"), cost, chats, seconds);
    assertThat(Files.size(file)).isPositive();
    return LoggedRequest.readAll(file);
  }

  private static LoggedRequest with(LoggedRequest request, double first, double total) {
    return new LoggedRequest(
        request.arrivedMillis(),
        request.model(),
        request.session(),
        request.engine(),
        request.outcome(),
        request.tokens(),
        new LoggedRequest.Times(request.times().dispatch(), first, total),
        request.blocks());
  }

  private static void assertClose(StepCost found, StepCost cost, double percent) {
    assertThat(found.baseMillis()).isCloseTo(cost.baseMillis(), withinPercentage(percent));
    assertThat(found.prefillTokenMillis())
        .isCloseTo(cost.prefillTokenMillis(), withinPercentage(percent));
    assertThat(found.attentionMillis())
        .isCloseTo(cost.attentionMillis(), withinPercentage(percent));
    assertThat(found.decodeContextMillis())
        .isCloseTo(cost.decodeContextMillis(), withinPercentage(percent));
  }
}
