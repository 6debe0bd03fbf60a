package dev.warmpath.router.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.EngineState;
import dev.warmpath.router.fleet.Outcome;
import dev.warmpath.router.fleet.Replica;
import dev.warmpath.router.fleet.Reservation;
import dev.warmpath.tokenizer.PromptResult;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Which prompts and which engines head-room counts. */
class KneeHeadroomTest {

  private static final int TOKENS = 20_000;

  private final World world = new World("warm").with(2);

  private static PromptResult.Tokens prompt(int own) {
    return World.prompt(0, TOKENS, 1, own);
  }

  private double headroom() {
    return world.dispatcher.kneeHeadroom();
  }

  private EngineState engine(World of) {
    return Objects.requireNonNull(of.dispatcher.engine("r0"));
  }

  private static Booking booking(long id) {
    return new Booking(id, "r0", TOKENS, TOKENS, true, true, 0, null, new long[0]);
  }

  @Test
  void aRouterOfAClusterCountsAllRequestsOfIt() {
    World other = new World("warm").with(2);
    Assignment own = world.assign(prompt(0));
    engine(other).book(booking(1), 0);
    assertThat(headroom())
        .isLessThan(0.99)
        .isEqualTo(other.dispatcher.kneeHeadroom(), within(1e-9));
    assertThat(own.choice().engine()).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "COMPLETED")
  void promptsThatWereNeverComputedAreGivenBack(Outcome outcome) {
    Assignment computed = world.assign(prompt(0));
    computed.finished(Outcome.COMPLETED);
    world.pass(TimeUnit.SECONDS.toMillis(40));
    double before = headroom();
    Assignment waiting = world.assign(prompt(1));
    assertThat(headroom()).isLessThan(before - 0.01);
    waiting.finished(outcome);
    assertThat(headroom()).isEqualTo(before, within(1e-9));
  }

  @ParameterizedTest
  @EnumSource
  void promptsThatWereComputedCountHoweverTheRequestEnds(Outcome outcome) {
    Assignment computed = world.assign(prompt(0));
    double during = headroom();
    computed.firstToken();
    computed.finished(outcome);
    assertThat(headroom()).isEqualTo(during, within(1e-9)).isLessThan(0.99);
  }

  @Test
  void bookingsAreGivenBackAlike() {
    EngineState engine = engine(world);
    Reservation computed = engine.book(booking(1), 0);
    Reservation cancelled = engine.book(booking(2), 0);
    Reservation failed = engine.book(booking(3), 0);
    double three = 1 - headroom();
    engine.release(computed, true, 0);
    engine.firstToken(failed, 0);
    engine.release(failed, false, 0);
    assertThat(1 - headroom()).isEqualTo(three, within(1e-9));
    engine.release(cancelled, false, 0);
    assertThat(1 - headroom()).isEqualTo(three * 2 / 3, within(1e-9));
  }

  @Test
  void warmUpsAreNoLoadOfClients() {
    Reservation prewarm = engine(world).prewarm(World.chain(prompt(0)), 0, 0);
    assertThat(headroom()).isNaN();
    world.assign(prompt(1));
    double own = headroom();
    engine(world).release(prewarm, false, 0);
    assertThat(headroom()).isEqualTo(own);
  }

  @Test
  void enginesThatGetNothingAsUsualBearNothing() {
    world.assign(prompt(0));
    world.assign(prompt(1));
    double both = headroom();
    Replica replica = world.replica("r0");
    bearsNothing(both, is -> replica.asleep(is));
    bearsNothing(both, is -> replica.draining(is));
    bearsNothing(both, is -> replica.health(is ? Replica.Health.DOWN : Replica.Health.UP));
    bearsNothing(
        both,
        is -> {
          if (is) {
            replica.findStuck(1, TimeUnit.HOURS.toNanos(1));
          } else {
            replica.moved(0);
          }
        });
    bearsNothing(
        both,
        is -> {
          if (is) {
            engine(world).rest(1, 0);
          } else {
            engine(world).rest(0, 0);
          }
        });
  }

  private void bearsNothing(double both, Consumer<Boolean> change) {
    change.accept(true);
    assertThat(1 - headroom()).isGreaterThan(2 * (1 - both));
    change.accept(false);
    assertThat(headroom()).isEqualTo(both, within(1e-9));
  }
}
