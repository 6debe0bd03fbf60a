package dev.warmpath.eventingest.stream;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.snapshot.EngineFate;
import dev.warmpath.eventingest.stream.StreamFixture.Seed;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/**
 * A router subscribes, gets the snapshot of another one that follows the same engine, and then
 * hears what it has held: what proves that the two fit?
 */
final class EngineStreamJoinTest {

  private static final int[] A = IntStream.range(0, 17).toArray();
  private static final int[] B = IntStream.range(100, 117).toArray();
  private static final int[] C = IntStream.range(200, 217).toArray();

  private final List<EngineFate> fates = new ArrayList<>();

  /** Has applied batches 0 and 1, A and B. */
  private final StreamFixture donor = StreamFixture.live(true);

  EngineStreamJoinTest() {
    donor.engine.serve(A).serve(B);
    donor.deliver(0);
    donor.deliver(1);
  }

  @Test
  void heldBatchWithTheBytesOfTheLastOneIsProofEnough() {
    StreamFixture router = join(donor.seed());
    donor.engine.serve(C).evict(A, 2);
    hold(router, 0, 1, 2, 3);

    assertThat(fates).containsExactly(EngineFate.KEPT);
    assertThat(router.questions).as("no replay").isZero();
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
    assertThat(router.predicted(A)).isEqualTo(8);
    assertThat(router.predicted(B)).isEqualTo(16);
    assertThat(router.predicted(C)).isEqualTo(16);
  }

  @Test
  void neitherAReplaySocketNorTheStartIsNeeded() {
    donor.canReplay = false;
    StreamFixture router = join(donor.seed());
    donor.engine.serve(C);
    hold(router, 1, 2);

    assertThat(fates).containsExactly(EngineFate.KEPT);
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
    assertThat(router.predicted(A)).isEqualTo(16);
    assertThat(router.predicted(C)).isEqualTo(16);
  }

  @Test
  void nextNumberAloneProvesNothing() {
    donor.canReplay = false;
    Seed seed = donor.seed();
    donor.engine.restart().serve(C).serve(C).serve(C);
    StreamFixture router = join(seed);
    hold(router, 2);

    assertThat(fates).containsExactly(EngineFate.NO_REPLAY);
    assertThat(router.predicted(A)).isZero();
    assertThat(router.trust()).isEqualTo(Trust.SUSPECT);
  }

  @Test
  void withAReplaySocketTheNextNumberAsksForTheLastOne() {
    StreamFixture router = join(donor.seed());
    donor.engine.serve(C);
    router.deliver(2);
    assertThat(router.askedFrom).isEqualTo(1);
    assertThat(router.predicted(C)).as("it waits").isZero();
    router.answer();

    assertThat(fates).containsExactly(EngineFate.KEPT);
    assertThat(router.predicted(A)).isEqualTo(16);
    assertThat(router.predicted(C)).isEqualTo(16);
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void idleEngineIsAskedOnceAllThatWasHeldHasCome() {
    StreamFixture router = join(donor.seed());
    assertThat(router.asked()).isFalse();
    router.stream.heldEnded();
    assertThat(router.askedFrom).isEqualTo(1);
    router.answer();
    assertThat(fates).containsExactly(EngineFate.KEPT);
  }

  @Test
  void idleEngineWithoutAReplaySocketIsForgotten() {
    donor.canReplay = false;
    StreamFixture router = join(donor.seed());
    router.stream.heldEnded();
    assertThat(fates).containsExactly(EngineFate.NO_REPLAY);
    assertThat(router.predicted(A)).isZero();
  }

  @Test
  void otherBytesUnderTheLastNumberForgetAll() {
    Seed seed = donor.seed();
    donor.engine.restart().serve(C).serve(C);
    StreamFixture router = join(seed);
    hold(router, 0, 1);
    router.answer();

    assertThat(fates).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(router.predicted(A)).isZero();
    assertThat(router.predicted(C)).isEqualTo(16);
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void lastBatchThatIsStillOnItsWayIsWaitedFor() {
    StreamFixture router = join(donor.seed());
    hold(router, 0);
    assertThat(router.asked()).isFalse();
    assertThat(router.trust()).isEqualTo(Trust.CATCHING_UP);
    router.deliver(1);

    assertThat(fates).containsExactly(EngineFate.KEPT);
    assertThat(router.questions).isZero();
  }

  @Test
  void lastBatchThatNeverComesIsAskedFor() {
    StreamFixture router = join(donor.seed());
    hold(router, 0);
    router.clock.pass(EngineStream.JOIN_WAIT);
    router.stream.tick();

    assertThat(router.askedFrom).isEqualTo(1);
    router.answer();
    assertThat(fates).containsExactly(EngineFate.KEPT);
  }

  @Test
  void engineThatRestartsBetweenSnapshotAndHeldBatchesIsCreditedWithNothing() {
    Seed seed = donor.seed();
    StreamMessage last = donor.message(1);
    StreamFixture router = join(seed);
    router.stream.live(last);
    donor.engine.restart().serve(C);
    router.stream.disconnected();
    router.stream.connected();
    hold(router, 0);
    router.answer();

    assertThat(router.predicted(A)).isZero();
    assertThat(router.predicted(C)).isEqualTo(16);
  }

  @Test
  void batchesOfTheProcessBeforeAreNotTakenForThoseOfTheSnapshots() {
    donor.engine.serve(C);
    StreamMessage ofTheProcessBefore = donor.message(2);
    donor.engine.restart().serve(A).serve(B);
    donor.stream.disconnected();
    donor.stream.connected();
    donor.answer();
    StreamFixture router = join(donor.seed());
    router.stream.live(ofTheProcessBefore);
    assertThat(router.asked()).isTrue();
    router.stream.disconnected();
    router.stream.connected();
    hold(router, 0, 1);

    assertThat(fates).containsExactly(EngineFate.KEPT);
    assertThat(router.predicted(B)).isEqualTo(16);
    assertThat(router.predicted(C)).as("the other process's").isZero();
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
  }

  @Test
  void refusedLiveBatchesAreAskedForOnceItIsProven() {
    StreamFixture router = join(donor.seed());
    donor.engine.serve(C);
    router.deliver(1);
    router.stream.liveRefused();
    router.stream.heldEnded();
    router.answer();

    assertThat(fates).containsExactly(EngineFate.KEPT);
    assertThat(router.predicted(C)).isEqualTo(16);
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
    assertThat(router.count(StreamCounter.REPLAYED_BATCHES)).isEqualTo(1);
  }

  /** What waited for the start of a process is nobody's once the connection is another one. */
  @Test
  void batchesThatWaitedForTheStartOfAProcessEndWithItsConnection() {
    Seed seed = donor.seed();
    donor.engine.restart().serve(A).serve(C);
    StreamFixture router = join(seed);
    hold(router, 1);
    assertThat(fates).containsExactly(EngineFate.OTHER_LIFETIME);
    assertThat(router.asked()).isTrue();

    donor.engine.restart();
    router.stream.disconnected();
    router.stream.connected();
    router.answer();
    assertThat(router.predicted(C)).as("the process before's").isZero();
    donor.engine.serve(B);
    router.deliver(0);
    assertThat(router.predicted(B)).isEqualTo(16);
    assertThat(router.trust()).isEqualTo(Trust.EXACT);
  }

  /** Two routers follow an engine that restarts; one joins by the other's snapshot. */
  @Property(tries = 2000)
  void neverCreditsWhatIsNotHeld(@ForAll long seed, @ForAll boolean canReplay) {
    Random random = new Random(seed);
    fates.clear();
    StreamFixture other = StreamFixture.live(true);
    Network network = new Network(other, random);
    network.live(5 + random.nextInt(30));
    network.subscribe();
    network.live(random.nextInt(20));
    network.donorHears();
    if (other.stream.snapshot() == null) {
      return;
    }
    other.canReplay = canReplay;
    Seed taken = other.seed();
    boolean provable = network.hasHeld(taken.snapshot().lastSequence());
    network.live(random.nextInt(20));

    StreamFixture router = join(taken);
    network.bring(router);
    router.stream.heldEnded();
    if (random.nextBoolean()) {
      network.answer(router);
    }
    network.live(random.nextInt(20));
    network.bring(router);
    router.clock.pass(EngineStream.JOIN_WAIT);
    router.stream.tick();
    network.answer(router);

    assertThat(fates).hasSize(1);
    for (int prompt = 0; prompt < 8; prompt++) {
      int held = other.engine.reusable(prompt(prompt));
      assertThat(router.predicted(prompt(prompt))).isLessThanOrEqualTo(held);
      if (router.trust() == Trust.EXACT) {
        assertThat(router.predicted(prompt(prompt))).isEqualTo(held);
      }
    }
    if (provable && network.restartsWhenSubscribed == other.engine.restarts()) {
      assertThat(router.trust()).isEqualTo(Trust.EXACT);
      assertThat(router.questions).as("replays").isZero();
    }
  }

  /** The engine's life, and what its connections have brought but nobody has taken up yet. */
  private static final class Network {

    private final StreamFixture donor;
    private final Random random;

    /** Batches; an impossible number stands for a connection that was lost and made anew. */
    private final List<StreamMessage> held = new ArrayList<>();

    private boolean subscribed;
    private int donorHeard;
    int restartsWhenSubscribed;

    Network(StreamFixture donor, Random random) {
      this.donor = donor;
      this.random = random;
    }

    void live(int steps) {
      for (int step = 0; step < steps; step++) {
        int what = random.nextInt(40);
        int before = donor.engine.published().size();
        if (what == 0) {
          donorHears();
          donor.engine.restart();
          donor.stream.disconnected();
          donor.stream.connected();
          donor.answer();
          donorHeard = 0;
          reconnect();
          before = 0;
        } else if (what < 26) {
          donor.engine.serve(prompt(random.nextInt(8)));
        } else {
          donor.engine.evict(random);
        }
        for (int i = before; subscribed && i < donor.engine.published().size(); i++) {
          held.add(donor.message(i));
        }
        if (random.nextInt(3) == 0) {
          donorHears();
        }
      }
    }

    private void reconnect() {
      if (subscribed) {
        held.add(new StreamMessage(Long.MAX_VALUE, new byte[0]));
      }
    }

    void subscribe() {
      donorHears();
      subscribed = true;
      restartsWhenSubscribed = donor.engine.restarts();
    }

    void donorHears() {
      for (; donorHeard < donor.engine.published().size(); donorHeard++) {
        donor.deliver(donorHeard);
      }
      donor.answer();
    }

    boolean hasHeld(long sequence) {
      return held.stream().anyMatch(batch -> batch.sequence() == sequence);
    }

    void bring(StreamFixture router) {
      for (StreamMessage batch : held) {
        if (batch.sequence() == Long.MAX_VALUE) {
          router.stream.disconnected();
          router.stream.connected();
        } else {
          router.stream.live(batch);
        }
      }
      held.clear();
    }

    /** With what a buffer of random length still has, but at least the last batch. */
    void answer(StreamFixture router) {
      int published = donor.engine.published().size();
      int begin = published == 0 ? 0 : random.nextInt(published);
      router.answer(donor.engine.published(), random.nextBoolean() ? 0 : begin);
    }
  }

  private static int[] prompt(int number) {
    int shared = number % 3 * 8;
    return IntStream.range(0, 25).map(i -> i < shared ? i : 1000 * (number + 1) + i).toArray();
  }

  private StreamFixture join(Seed seed) {
    StreamFixture router = seed.plant((fate, why) -> fates.add(fate));
    router.stream.expectHeld();
    router.stream.connected();
    return router;
  }

  /** These numbers were heard while the snapshot was read, and no others. */
  private static void hold(StreamFixture router, int... sequences) {
    for (int sequence : sequences) {
      router.deliver(sequence);
    }
    router.stream.heldEnded();
  }
}
