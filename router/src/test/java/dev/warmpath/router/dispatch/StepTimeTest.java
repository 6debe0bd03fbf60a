package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.OtherLoad;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.metrics.Metrics;
import dev.warmpath.router.routing.DecodeCost;
import dev.warmpath.router.routing.PrefillCost;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What streams teach of an engine's steps while it does other things. */
class StepTimeTest {

  private static final int STREAMS = 200;
  private static final int STEPS = 100;
  private static final long STREAM_MILLIS = Math.round(STEPS * DecodeCost.DEFAULT.stepMillis());
  private static final int LONG_TOKENS = 20_000;
  private static final long LONG_MILLIS =
      Math.round(PrefillCost.DEFAULT.millis(LONG_TOKENS, LONG_TOKENS));

  private final World world = new World("warm").with(1);
  private int number;

  @Test
  void streamsTeachIt() {
    for (int i = 0; i < STREAMS; i++) {
      end(begin(), STEPS, 3 * STREAM_MILLIS);
    }
    assertThat(stepMillis()).isCloseTo(45, within(5.0));
    EngineState.Snapshot state = world.report("r0").state();
    assertThat(state.decodeSamples()).isEqualTo(STREAMS);
    assertThat(state.decodeCost().stepMillis()).isCloseTo(45, within(5.0));
    assertThat(scraped()).contains("warmpath_engine_step_seconds{engine=\"r0\"} 0.04");
  }

  @Test
  void whatNobodyTaughtIsNotScraped() {
    assertThat(scraped()).contains("warmpath_engine_queued_seconds").doesNotContain("step_seconds");
  }

  private String scraped() {
    Metrics metrics = new Metrics();
    metrics.add(values -> world.report("r0").collect(values));
    return metrics.scrape();
  }

  @Test
  void plainAnswersBesideThemDoNotMoveIt() {
    for (int i = 0; i < STREAMS; i++) {
      Assignment stream = begin();
      Assignment plain = prompt(false);
      end(stream, STEPS, STREAM_MILLIS + LONG_MILLIS);
      plain.finished(Outcome.COMPLETED);
    }
    assertUnmoved();
  }

  /** Of a long prompt each of them sees a part. */
  @Test
  void aPromptThatIsUnderWayDoesNotMoveIt() {
    for (int i = 0; i < STREAMS; i++) {
      Assignment stream = begin();
      world.pass(STREAM_MILLIS);
      Assignment other = prompt(true);
      end(stream, STEPS, LONG_MILLIS / 2);
      stream = prompt(0, true);
      stream.firstToken();
      world.pass(LONG_MILLIS / 2);
      other.firstToken();
      end(stream, STEPS, STREAM_MILLIS);
      other.finished(Outcome.COMPLETED);
    }
    assertUnmoved();
  }

  @Test
  void promptsThatAreCancelledHalfWayDoNotMoveIt() {
    for (int i = 0; i < STREAMS; i++) {
      Assignment stream = begin();
      Assignment other = prompt(true);
      world.pass(LONG_MILLIS / 2);
      other.finished(Outcome.CANCELLED);
      end(stream, STEPS, STREAM_MILLIS);
    }
    assertUnmoved();
  }

  @Test
  void nothingIsLearnedWhileTheEngineWorksForOthers() {
    world.replica("r0").otherLoad(0, new OtherLoad(8, 2, 0.5));
    for (int i = 0; i < STREAMS; i++) {
      end(begin(), STEPS, 10 * STREAM_MILLIS);
    }
    assertThat(stepMillis()).isEqualTo(DecodeCost.DEFAULT.stepMillis());
  }

  @Test
  void answersOfAFewTokensDoNotMoveIt() {
    for (int i = 0; i < STREAMS; i++) {
      end(begin(), 1, i % 2 == 0 ? 1 : 10_000);
    }
    assertThat(stepMillis()).isEqualTo(DecodeCost.DEFAULT.stepMillis());
  }

  /** They end long after their last token. */
  @Test
  void clientsThatReadTheEndLateDoNotMoveIt() {
    for (int i = 0; i < STREAMS; i++) {
      Assignment stream = begin();
      world.pass(STREAM_MILLIS);
      stream.streamed(STEPS, world.nanos.get());
      world.pass(i % 2 == 0 ? 100 : 60_000);
      stream.finished(Outcome.COMPLETED);
    }
    assertUnmoved();
  }

  private void assertUnmoved() {
    double step = DecodeCost.DEFAULT.stepMillis();
    assertThat(stepMillis()).isBetween(step / 1.2, step * 1.2);
  }

  private Assignment begin() {
    Assignment stream = prompt(0, true);
    stream.firstToken();
    return stream;
  }

  private void end(Assignment stream, int steps, long millis) {
    world.pass(millis);
    stream.streamed(steps, world.nanos.get());
    stream.finished(Outcome.COMPLETED);
  }

  private Assignment prompt(boolean streamed) {
    return prompt(LONG_TOKENS, streamed);
  }

  private Assignment prompt(int tokens, boolean streamed) {
    return world.assign(World.request("m", World.prompt(0, 16 + tokens, 1, number++), streamed, 0));
  }

  /** Of an engine whose memory holds one request. */
  private double stepMillis() {
    EngineState engine = Objects.requireNonNull(world.dispatcher.engine("r0"));
    return engine.fullMillis(1, 0, 1);
  }
}
