package dev.warmpath.router.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.cluster.SeedDonor.Stock;
import dev.warmpath.router.cluster.WarmStart.Fit;
import dev.warmpath.router.cluster.WarmStart.Outcome;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Snapshots between routers over a link that loses, repeats and reorders, in virtual time. */
final class WarmStartTest {

  private static final int LIMIT_MS = 30_000;
  private static final RouterId NEW = new RouterId("new", 1);
  private static final RouterId BEST = new RouterId("best", 1);
  private static final RouterId SECOND = new RouterId("second", 1);

  @TempDir private Path folder;

  private Net net = new Net(1);
  private final Seeded seeded = new Seeded();

  @Test
  void wholeSnapshotComesThroughALinkThatLosesAndReorders() throws IOException {
    byte[] snapshot = bytes(5 * SeedMessage.CHUNK_BYTES + 17);
    net.loss = 0.2;
    Neighbours donor = net.donor(BEST, new Given(snapshot, 3));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);

    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
    assertThat(seeded.taken).isEqualTo(snapshot);
    net.pass(SeedDonor.IDLE_NANOS + TimeUnit.SECONDS.toNanos(1));
    assertThat(donor.takers()).isZero();
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).as("nothing is left").isEmpty();
    }
  }

  /** Whatever the link does, a snapshot is whole or not there. */
  @Property(tries = 100)
  void whatIsTakenIsWhatWasWritten(@ForAll long seed) throws IOException {
    folder = Files.createTempDirectory("seed");
    net = new Net(seed);
    Random random = new Random(seed);
    net.loss = random.nextDouble() * 0.5;
    byte[] one = bytes(1 + random.nextInt(3 * SeedMessage.CHUNK_BYTES));
    byte[] two = bytes(1 + random.nextInt(3 * SeedMessage.CHUNK_BYTES));
    two[0] ^= 1;
    Seeded graft = new Seeded();
    net.donor(BEST, new Given(one, random.nextInt(3)));
    net.donor(SECOND, new Given(two, random.nextInt(3)));
    Neighbours router = net.router(NEW, new Given(), graft);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);

    byte[] taken = graft.taken;
    if (router.outcome() == Outcome.SEEDED) {
      assertThat(Arrays.equals(taken, one) || Arrays.equals(taken, two)).isTrue();
    } else {
      assertThat(taken).isEmpty();
    }
    Files.delete(folder);
  }

  @Test
  void whoMeetsNobodyIsReadySoon() {
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.NOBODY_HAS_STATE);
    assertThat(seeded.ended).containsExactly(Outcome.NOBODY_HAS_STATE);
    assertThat(net.now).isLessThan(2 * WarmStart.ALONE_NANOS);
  }

  @Test
  void neighbourThatIsExpectedIsWaitedForLonger() {
    byte[] snapshot = bytes(9);
    net.donor(BEST, new Given(snapshot, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.mayMeet = true;
    net.pass(2 * WarmStart.ALONE_NANOS);
    assertThat(router.outcome()).isEqualTo(Outcome.WAITING);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
    assertThat(seeded.taken).isEqualTo(snapshot);
  }

  /** The others find their way back a second later than this one. */
  @Test
  void whoCanBeReachedAtLastIsGivenTimeToSaySo() {
    byte[] snapshot = bytes(9);
    net.donor(BEST, new Given(snapshot, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.mayMeet = true;
    net.pass(WarmStart.ALONE_NANOS + TimeUnit.SECONDS.toNanos(1));
    net.mayMeet = false;
    net.pass(TimeUnit.SECONDS.toNanos(1));
    assertThat(router.outcome()).isEqualTo(Outcome.WAITING);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
  }

  @Test
  void neighbourThatIsExpectedAndDoesNotComeIsGivenUp() {
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.mayMeet = true;
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.NOBODY_HAS_STATE);
    assertThat(net.now).isBetween(WarmStart.EXPECTED_NANOS, WarmStart.EXPECTED_NANOS * 2);
  }

  @Test
  void neighboursThatStartThemselvesOrKnowNothingAreNotWaitedFor() {
    Given starting = new Given(bytes(9), 1);
    starting.ready = false;
    net.donor(BEST, starting);
    net.donor(SECOND, new Given());
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.NOBODY_HAS_STATE);
    assertThat(net.now).isLessThan(TimeUnit.SECONDS.toNanos(2));
  }

  @Test
  void neighbourThatCannotGiveIsWaitedForUpToTheLimit() {
    Given broken = new Given(bytes(9), 1);
    broken.fails = true;
    net.donor(BEST, broken);
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(net.now).isGreaterThan(TimeUnit.MILLISECONDS.toNanos(LIMIT_MS));
    assertThat(broken.written).as("asked for again and again").isBetween(3, 9);
  }

  @Test
  void silentNeighbourMayKnowTheEngines() {
    net.donor(BEST, new Given(bytes(9), 1));
    net.mute.add(BEST);
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.REFUSED);
  }

  @Test
  void neighbourThatStallsIsLeftForAnother() {
    byte[] snapshot = bytes(2 * SeedMessage.CHUNK_BYTES);
    net.donor(BEST, new Given(bytes(9 * SeedMessage.CHUNK_BYTES), 2));
    net.donor(SECOND, new Given(snapshot, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.receivedBytes() > 2 * SeedMessage.CHUNK_BYTES);
    net.mute.add(BEST);
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
    assertThat(seeded.taken).isEqualTo(snapshot);
    assertThat(net.now).isLessThan(TimeUnit.SECONDS.toNanos(8));
  }

  @Test
  void neighbourThatGoesIsLeftForAnotherAtOnce() {
    byte[] snapshot = bytes(SeedMessage.CHUNK_BYTES);
    net.donor(BEST, new Given(bytes(9 * SeedMessage.CHUNK_BYTES), 2));
    net.donor(SECOND, new Given(snapshot, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.receivedBytes() > 2 * SeedMessage.CHUNK_BYTES);
    net.routers.remove(BEST);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(seeded.taken).isEqualTo(snapshot);
    assertThat(net.now).isLessThan(WarmStart.STALL_NANOS);
  }

  @Test
  void damagedSnapshotIsNotTaken() {
    byte[] good = bytes(SeedMessage.CHUNK_BYTES + 1);
    byte[] damaged = bytes(SeedMessage.CHUNK_BYTES + 1);
    damaged[3] ^= 4;
    seeded.damaged = damaged;
    net.donor(BEST, new Given(damaged, 2));
    net.donor(SECOND, new Given(good, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
    assertThat(seeded.taken).isEqualTo(good);
  }

  @Test
  void snapshotThatIsTooOldIsTakenOnlyIfNoOtherIsBetter() {
    byte[] old = bytes(50);
    byte[] better = bytes(60);
    seeded.gaps.put(old.length, new Fit(2, 10));
    net.donor(BEST, new Given(old, 2));
    net.donor(SECOND, new Given(better, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(seeded.taken).isEqualTo(better);

    net = new Net(2);
    Seeded another = new Seeded();
    another.gaps.put(old.length, new Fit(2, 10));
    another.gaps.put(better.length, new Fit(3, 5));
    net.donor(BEST, new Given(old, 2));
    net.donor(SECOND, new Given(better, 1));
    Neighbours next = net.router(NEW, new Given(), another);
    net.meet();
    net.runUntil(() -> next.outcome() != Outcome.WAITING);
    assertThat(another.taken).as("the replay may fill the gap").isEqualTo(old);
  }

  @Test
  void neighbourWhoseEventsHavePiledUpIsAskedAgain() {
    byte[] late = bytes(50);
    seeded.gaps.put(late.length, new Fit(1, 50));
    Given given = new Given(late, 1);
    net.donor(BEST, given);
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> given.written == 2);
    assertThat(seeded.taken).isEmpty();
    seeded.gaps.clear();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(seeded.taken).isEqualTo(late);
    assertThat(given.written).isLessThan(4);
  }

  @Test
  void tooLargeASnapshotIsNotEvenBegun() {
    net.donor(BEST, new Given(bytes(Net.MAX_BYTES + 1), 2));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.REFUSED);
    assertThat(router.receivedBytes()).isZero();
  }

  @Test
  void fewAreServedAtATimeAndTheOthersComeLater() {
    byte[] snapshot = bytes(8 * SeedMessage.CHUNK_BYTES);
    Neighbours donor = net.donor(BEST, new Given(snapshot, 2));
    List<Neighbours> all = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      all.add(net.router(new RouterId("new-" + i, 1), new Given(), new Seeded()));
    }
    net.meet();
    net.runUntil(() -> {
      assertThat(donor.takers()).isLessThanOrEqualTo(SeedDonor.MOST_TAKERS);
      return all.stream().noneMatch(router -> router.outcome() == Outcome.WAITING);
    });
    assertThat(all).extracting(Neighbours::outcome).containsOnly(Outcome.SEEDED);
  }

  @Test
  void twoAreServedAtATimeAndForgottenWhenTheyAskNoMore() {
    Neighbours donor = net.donor(BEST, new Given(bytes(9), 1));
    for (int i = 0; i < 3; i++) {
      donor.received(new RouterId("new-" + i, 1), SeedMessage.encode(new SeedMessage.Take(1)));
      net.pass(TimeUnit.SECONDS.toNanos(1));
    }
    assertThat(donor.takers()).isEqualTo(2);
    net.pass(SeedDonor.IDLE_NANOS);
    assertThat(donor.takers()).isZero();
  }

  @Test
  void chunksOfAnEarlierAttemptAreForNothing() {
    byte[] snapshot = bytes(6 * SeedMessage.CHUNK_BYTES);
    net.donor(BEST, new Given(snapshot, 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.receivedBytes() > 0);
    for (int chunk = 0; chunk < 6; chunk++) {
      byte[] others = new byte[SeedMessage.CHUNK_BYTES];
      router.received(BEST, SeedMessage.encode(new SeedMessage.Chunk(0, chunk, others)));
    }
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(seeded.taken).isEqualTo(snapshot);
  }

  @Test
  void outcomeStaysWhenNeighboursGo() {
    net.donor(BEST, new Given(bytes(9), 1));
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    net.routers.remove(BEST);
    net.meet();
    net.pass(TimeUnit.MINUTES.toNanos(1));
    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
    assertThat(seeded.ended).containsExactly(Outcome.SEEDED);
  }

  @Test
  void nothingIsAskedBeforeTheEnginesAreHeard() {
    Given given = new Given(bytes(9), 1);
    net.donor(BEST, given);
    seeded.listening = 0;
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.pass(WarmStart.LISTEN_NANOS / 2);
    assertThat(given.written).isZero();
    seeded.listening = 4;
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(given.written).isOne();
    assertThat(net.now).isLessThan(WarmStart.LISTEN_NANOS);
  }

  @Test
  void engineThatIsDownHoldsNothingUp() {
    net.donor(BEST, new Given(bytes(9), 1));
    seeded.listening = 0;
    Neighbours router = net.router(NEW, new Given(), seeded);
    net.meet();
    net.runUntil(() -> router.outcome() != Outcome.WAITING);
    assertThat(router.outcome()).isEqualTo(Outcome.SEEDED);
  }

  @Property(tries = 1000)
  void nonsenseIsCounted(@ForAll byte[] message) {
    SeedMessage read = SeedMessage.decode(message);
    if (read != null) {
      assertThat(SeedMessage.decode(SeedMessage.encode(read))).isNotNull();
    }
  }

  private static byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    new Random(count).nextBytes(bytes);
    return bytes;
  }

  /** What a router has to give. */
  private static final class Given implements SeedDonor.Source {
    private final byte[] snapshot;
    private final int exact;
    private boolean ready = true;
    private boolean fails;
    private int written;

    Given() {
      this(new byte[0], 0);
    }

    Given(byte[] snapshot, int exact) {
      this.snapshot = snapshot;
      this.exact = exact;
    }

    @Override
    public Stock stock() {
      return new Stock(ready, exact, snapshot.length);
    }

    @Override
    public long writeTo(OutputStream out) throws IOException {
      written++;
      if (fails) {
        throw new IOException("on purpose");
      }
      out.write(snapshot);
      return 1_000_000;
    }
  }

  /** What a router makes of what it gets. */
  private static final class Seeded implements WarmStart.Graft {
    private byte[] taken = {};
    private byte[] damaged = {};
    private final Map<Integer, Fit> gaps = new LinkedHashMap<>();
    private final List<Outcome> ended = new ArrayList<>();
    private int listening = 1;

    @Override
    public int listening() {
      return listening;
    }

    @Override
    public Fit judge(InputStream snapshot) throws IOException {
      int length = snapshot.readAllBytes().length;
      return gaps.getOrDefault(length, new Fit(0, length));
    }

    @Override
    public void take(InputStream snapshot) throws IOException {
      byte[] all = snapshot.readAllBytes();
      if (Arrays.equals(all, damaged)) {
        throw new IOException("damaged");
      }
      taken = all;
    }

    @Override
    public void ended(Outcome outcome) {
      ended.add(outcome);
    }
  }

  /** Messages and work wait and come in any order; time passes when nothing does. */
  private final class Net {
    static final int MAX_BYTES = 64 << 20;

    private final Random random;
    private final Map<RouterId, Neighbours> routers = new LinkedHashMap<>();
    private final Set<RouterId> mute = new HashSet<>();
    private final List<Runnable> waiting = new ArrayList<>();
    private double loss;
    private boolean mayMeet;
    private long now;
    private long tickedNanos;

    Net(long seed) {
      random = new Random(seed);
    }

    Neighbours router(RouterId id, SeedDonor.Source source, WarmStart.Graft graft) {
      Neighbours router =
          new Neighbours(
              new Neighbours.Environment(
                  (to, message) -> send(id, to, message), waiting::add, () -> now, folder),
              source,
              graft,
              MAX_BYTES,
              LIMIT_MS);
      routers.put(id, router);
      return router;
    }

    /** One that has long started. */
    Neighbours donor(RouterId id, SeedDonor.Source source) {
      Neighbours donor = router(id, source, new Seeded());
      donor.close();
      return donor;
    }

    void meet() {
      routers.forEach((id, router) -> {
        Set<RouterId> others = new HashSet<>(routers.keySet());
        others.remove(id);
        router.reachable(others);
      });
    }

    private void send(RouterId from, RouterId to, byte[] message) {
      assertThat(message.length).isLessThan(ClusterLink.LONGEST_MESSAGE);
      assertThat((int) message[0]).isBetween(Neighbours.FIRST_KIND, Neighbours.LAST_KIND);
      int copies = random.nextDouble() < loss ? 0 : random.nextDouble() < loss ? 2 : 1;
      for (int i = 0; i < copies; i++) {
        waiting.add(() -> {
          Neighbours receiver = routers.get(to);
          if (receiver != null && !mute.contains(from)) {
            receiver.received(from, message);
          }
        });
      }
    }

    void pass(long nanos) {
      long until = now + nanos;
      runUntil(() -> now >= until);
    }

    void runUntil(BooleanSupplier done) {
      for (int step = 0; !done.getAsBoolean(); step++) {
        assertThat(step).as("steps").isLessThan(1_000_000);
        if (!waiting.isEmpty() && random.nextInt(4) > 0) {
          waiting.remove(random.nextInt(waiting.size())).run();
        } else {
          now += TimeUnit.MILLISECONDS.toNanos(5);
        }
        if (now - tickedNanos > TimeUnit.MILLISECONDS.toNanos(100)) {
          tickedNanos = now;
          routers.values().forEach(router -> router.tick(() -> mayMeet));
        }
      }
    }
  }
}
