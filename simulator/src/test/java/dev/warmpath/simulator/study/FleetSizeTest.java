package dev.warmpath.simulator.study;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.withinPercentage;

import dev.warmpath.simulator.engine.StepCost;
import dev.warmpath.simulator.engine.StepWork;
import dev.warmpath.simulator.study.FleetSize.Answer;
import dev.warmpath.simulator.study.FleetSize.Goal;
import dev.warmpath.simulator.trace.LoggedRequest;
import dev.warmpath.simulator.trace.Trace;
import java.util.List;
import org.junit.jupiter.api.Test;

class FleetSizeTest {

  private static final Trace TRACE = VirtualLog.chats(300, 0.5);

  @Test
  void theSmallestFleetWithinTheGoalIsFound() {
    Answer found = new FleetSize(TRACE, goal(2_000, 1, 64)).of("warm");
    assertThat(found.enough()).isTrue();
    assertThat(found.replicas()).isBetween(2, 40);
    assertThat(p90(found)).isLessThanOrEqualTo(2_000);
    Answer fewer = new FleetSize(TRACE, goal(2_000, 1, found.replicas() - 1)).of("warm");
    assertThat(fewer.enough()).isFalse();
    assertThat(fewer.replicas()).isEqualTo(found.replicas() - 1);
    assertThat(p90(fewer)).isGreaterThan(2_000);
  }

  @Test
  void moreTrafficAndShorterTimesNeedMore() {
    int replicas = new FleetSize(TRACE, goal(2_000, 1, 64)).of("warm").replicas();
    assertThat(new FleetSize(TRACE, goal(2_000, 3, 64)).of("warm").replicas())
        .isGreaterThan(replicas);
    assertThat(new FleetSize(TRACE, goal(20_000, 1, 64)).of("warm").replicas())
        .isLessThan(replicas);
  }

  @Test
  void blindPoliciesNeedMore() {
    FleetSize size = new FleetSize(TRACE, goal(2_000, 1, 64));
    Answer blind = size.of("round-robin");
    assertThat(blind.replicas()).isGreaterThan(size.of("warm").replicas());
  }

  @Test
  void oneReplicaMayBeEnough() {
    Answer found = new FleetSize(VirtualLog.chats(20, 60), goal(20_000, 1, 8)).of("warm");
    assertThat(found.enough()).isTrue();
    assertThat(found.replicas()).isEqualTo(1);
  }

  @Test
  void requestsThatAreRejectedAreNotServed() {
    Goal small = new Goal(1e9, 1, StepCost.H100X4, 2_000, 4, 1);
    Answer found = new FleetSize(TRACE, small).of("warm");
    assertThat(found.enough()).isFalse();
    assertThat(found.replicas()).isEqualTo(4);
    assertThat(found.runs().get(0).rejected()).isPositive();
  }

  @Test
  void theRatioIsThatOfTheWork() {
    Goal full = new Goal(1, 1, StepCost.H100X4, 1_005_000, 1, 1);
    double step = StepCost.H100X4.stepMillis(StepWork.ofAnswers(100, 10_050));
    double prompt =
        StepCost.H100X4.stepMillis(StepWork.ofPrompt(8192, 0))
            + StepCost.H100X4.stepMillis(StepWork.ofPrompt(1808, 8192));
    assertThat(FleetSize.prefillRatio(List.of(request(10_000, 0, 100)), full))
        .isCloseTo(prompt / step, withinPercentage(0.01));
    double cached = StepCost.H100X4.stepMillis(StepWork.ofPrompt(1000, 9000));
    assertThat(FleetSize.prefillRatio(List.of(request(10_000, 9_000, 100)), full))
        .isCloseTo(cached / step, withinPercentage(0.01));
    assertThat(FleetSize.prefillRatio(List.of(request(10_000, -1, 100)), full)).isNaN();
  }

  private static LoggedRequest request(int prompt, int cached, int answer) {
    return new LoggedRequest(
        0,
        "m",
        null,
        "e",
        LoggedRequest.COMPLETED,
        new LoggedRequest.Tokens(prompt, cached, answer),
        new LoggedRequest.Times(0, 1, 2),
        new LoggedRequest.Blocks(0, List.of(1)));
  }

  private static double p90(Answer answer) {
    assertThat(answer.runs()).hasSize(1);
    return answer.runs().get(0).ttftMillis().p90();
  }

  private static Goal goal(double millis, double growth, int mostReplicas) {
    return new Goal(millis, growth, StepCost.H100X4, 2_000_000, mostReplicas, 1);
  }
}
