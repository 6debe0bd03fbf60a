package dev.warmpath.router.routing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Two engines with room for 1,600 tokens each; chats of 400 tokens that are never longer. */
class CacheAgesTest {

  private static final int CAPACITY = 1_600;
  private static final int BLOCKS = 25;

  private final CacheAges ages = new CacheAges();
  private final Map<Integer, Integer> holders = new HashMap<>();
  private double seconds;

  private RoutingRequest request(int chat, double cameSeconds) {
    RoutingRequest prompt = Fleets.prompt(0, BLOCKS, 1, chat);
    return new RoutingRequest(
        prompt.promptTokens(),
        prompt.blocks(),
        null,
        1,
        0,
        nanos(seconds),
        nanos(cameSeconds),
        RoutingRequest.ALONE);
  }

  private static long nanos(double seconds) {
    return Math.round(seconds * TimeUnit.SECONDS.toNanos(1));
  }

  private Candidates candidates(int chat, int capacity) {
    Candidates candidates = new Candidates();
    for (int engine = 0; engine < 2; engine++) {
      int held = holders.getOrDefault(chat, -1) == engine ? 16 * BLOCKS : 0;
      candidates
          .add("r" + engine, engine, PrefillCost.DEFAULT, Candidates.NEVER)
          .cached(held, 0, 0)
          .load(Load.NONE)
          .capacity(capacity);
    }
    return candidates;
  }

  private void use(int chat, int engine) {
    ages.use(request(chat, seconds), candidates(chat, CAPACITY), engine);
    holders.put(chat, engine);
  }

  private double[] lost(int chat) {
    return ages.lostTokens(request(chat, seconds), candidates(chat, CAPACITY));
  }

  /** Four chats take turns on an engine, ten seconds each. */
  private void turns(int rounds, int engine) {
    for (int turn = 0; turn < 4 * rounds; turn++) {
      seconds += 10;
      use(turn % 4, engine);
    }
  }

  @Test
  void freeMemoryCostsNothing() {
    turns(1, 0);
    assertThat(lost(9)[1]).isZero();
    assertThat(lost(9)[0]).isZero(); // nothing has been used again yet
  }

  @Test
  void whatIsUsedAgainInTurnsIsLost() {
    turns(50, 0);
    seconds += 10;
    // r0 would evict a chat that comes back every 40 s, r1 has room
    assertThat(lost(9)[0]).isBetween(340.0, 400.0);
    assertThat(lost(9)[1]).isZero();
    assertThat(ages.medianReturnMillis()).isCloseTo(40_000, within(8_000.0));
  }

  /** Chats that return after 70 s do not find an engine's content of the last 40 s. */
  @Test
  void aLargerFleetKeepsWhatReturnsLater() {
    for (int turn = 0; turn < 400; turn++) {
      seconds += 10;
      holders.remove(turn % 7); // evicted meanwhile
      use(turn % 7, 0);
    }
    assertThat(hitRateChange(0, 1.25)).isBetween(0.0, 0.05);
    assertThat(hitRateChange(0, 3)).isBetween(0.9, 1.0);
    assertThat(hitRateChange(0, 0.5)).isBetween(-0.05, 0.0);
    assertThat(hitRateChange(1, 3)).isNaN();
  }

  @Test
  void aSmallerFleetLosesWhatReturnsLate() {
    for (int turn = 0; turn < 300; turn++) {
      seconds += 10;
      use(turn % 3, 0);
    }
    assertThat(hitRateChange(0, 2)).as("all has room").isZero();
    assertThat(hitRateChange(0, 0.5)).isBetween(-1.0, -0.9);
  }

  private double hitRateChange(int engine, double times) {
    return ages.hitRateChange(new int[] {engine}, times, nanos(seconds));
  }

  @Test
  void whoHoldsThePromptEvictsNothing() {
    turns(50, 0);
    assertThat(lost(2)[0]).isZero();
  }

  @Test
  void contentOlderThanAllReuseIsWorthNothing() {
    turns(50, 0);
    seconds += 400;
    assertThat(lost(9)[0]).isLessThan(1);
    assertThat(lostAlone(request(9, seconds), candidates(9, CAPACITY))).isLessThan(1);
  }

  @Test
  void whatThoseBeforeItWillEvictIsMissed() {
    turns(50, 0);
    seconds += 1;
    assertThat(missed(0)).isZero();
    use(9, 0); // waits at the engine, which has evicted nothing yet
    assertThat(missed(0)).isEqualTo(16 * BLOCKS);
    assertThat(missed(1)).isZero();
    use(0, 0);
    assertThat(missed(0)).isZero();
    assertThat(missed(1)).isEqualTo(16 * BLOCKS);
    use(1, 1);
    holders.put(1, 0); // r1 has got it too: what r0 has of it is not known any more
    assertThat(missed(1)).isZero();
  }

  private double lostAlone(RoutingRequest request, Candidates candidates) {
    return ages.lostTokens(request, candidates, 0, candidates.uncachedTokens(request, 0));
  }

  private int missed(int chat) {
    return ages.missedTokens(request(chat, seconds), candidates(chat, CAPACITY), 0);
  }

  @Test
  void theOldestContentOfAllGoesFirst() {
    turns(50, 0);
    seconds += 30;
    for (int chat = 20; chat < 24; chat++) {
      use(chat, 1);
    }
    seconds += 10;
    // all is used again after 40 s: the oldest of r0 was used 80 s ago, that of r1 10 s ago
    assertThat(lost(9)[0]).isLessThan(1);
    assertThat(lost(9)[1]).isGreaterThan(300);
  }

  @Test
  void waitingForItsTurnMakesNothingOlder() {
    turns(50, 0);
    double median = ages.medianReturnMillis();
    for (int turn = 0; turn < 400; turn++) {
      seconds += 10;
      double came = seconds - 10 * 39; // it comes 10 s after its last use, and waits ever since
      ages.use(request(turn % 40, came), candidates(turn % 40, CAPACITY), 0);
    }
    assertThat(ages.medianReturnMillis()).isLessThan(median);
  }

  @Test
  void nothingIsSaidOfAnEngineWithoutAKnownCapacity() {
    turns(50, 0);
    assertThat(ages.lostTokens(request(9, seconds), candidates(9, 0))).containsExactly(0, 0);
  }

  @Test
  void itsMemoryIsBounded() {
    for (int chat = 0; chat < 40_000; chat++) {
      seconds += 0.01;
      use(chat, chat % 2);
      holders.clear();
    }
    assertThat(ages.memoryShare()).isBetween(0.5, 1.0);
    turns(20, 0);
    seconds += 1;
    assertThat(lost(9)[0]).isPositive();
  }

  @Test
  void manyUsesLeaveTheEnginesContentWhole() {
    for (int round = 0; round < 300; round++) {
      for (int chat = 0; chat < 4; chat++) {
        seconds += 0.5 + chat; // more slices than are kept
        use(chat, 0);
      }
    }
    seconds += 1;
    Candidates full = candidates(9, CAPACITY);
    double all = lostAlone(request(9, seconds), full);
    assertThat(all).isBetween(300.0, 400.0);
  }

  /** What lay behind the last mark stayed there for ever, and each turn added as much. */
  @Test
  void chatsThatGrowAreCountedOnce() {
    int capacity = 10 * 16 * 100 + 700;
    for (int blocks = 1; blocks <= 100; blocks++) {
      for (int chat = 0; chat < 10; chat++) {
        seconds++;
        RoutingRequest turn = at(Fleets.prompt(0, blocks, 1, chat));
        ages.use(turn, one(16 * (blocks - 1), capacity), 0);
      }
    }
    seconds++;
    assertThat(lostAlone(at(Fleets.prompt(0, 40, 1, 99)), one(0, capacity))).isZero();
    assertThat(lostAlone(at(Fleets.prompt(0, 60, 1, 99)), one(0, capacity))).isPositive();
  }

  /** A restart leaves nothing: the first turns after it find nothing, and are not added twice. */
  @Test
  void whatARestartLostIsNotKept() {
    turns(50, 0);
    holders.clear();
    turns(1, 0);
    seconds += 10;
    for (int chat = 0; chat < 4; chat++) {
      assertThat(lost(chat)[0]).isZero();
    }
  }

  /** As for the two engines of a pair, which are chosen at the same time. */
  @Test
  void aRequestThatIsGivenToTwoEnginesReturnsOnce() {
    turns(50, 0);
    double median = ages.medianReturnMillis();
    for (int turn = 0; turn < 200; turn++) {
      seconds += 10;
      use(turn % 4, 0);
      use(turn % 4, 1);
    }
    assertThat(ages.medianReturnMillis()).isEqualTo(median);
  }

  @Test
  void slowerMemoryKeepsWhatIsEvicted() {
    turns(50, 0);
    seconds += 10;
    Candidates candidates = candidates(9, CAPACITY).keepingEvicted(true); // r1
    assertThat(ages.lostTokens(request(9, seconds), candidates)[1]).isZero();
    assertThat(lostAlone(request(9, seconds), one(0, CAPACITY))).isPositive();
    Candidates kept = one(0, CAPACITY).keepingEvicted(true);
    assertThat(lostAlone(request(9, seconds), kept)).isZero();
  }

  /** Other engines still evict what is used again; the one that was restarted has room. */
  @Test
  void anEngineThatTheIndexShowsToBeEmptyHasRoom() {
    turns(50, 0);
    seconds += 10;
    holders.clear();
    assertThat(lost(9)[0]).isPositive();
    assertThat(ages.lostTokens(request(9, seconds), held(0, 0))[0]).isZero();
    use(9, 0);
    seconds += 10;
    use(10, 0);
    assertThat(lost(11)[0]).isZero(); // forgotten for good
  }

  @Test
  void whatTheIndexIsYetToHearOfIsThere() {
    turns(50, 0);
    seconds += 10;
    Candidates candidates = held(0, 0).load(new Load(4, 4, CAPACITY, 100, CAPACITY));
    assertThat(lostAlone(request(9, seconds), candidates)).isPositive();
  }

  @Test
  void aLittleLessThanWasRoutedIsAWayOfCounting() {
    turns(50, 0);
    seconds += 10;
    double lost = lostAlone(request(9, seconds), held(0, CAPACITY));
    assertThat(lostAlone(request(9, seconds), held(0, 7 * CAPACITY / 10))).isEqualTo(lost);
  }

  /** A prompt that another router has sent there is none of the content that is known here. */
  @Test
  void whatOthersSentIsNotTakenFromOwnContent() {
    int capacity = 10 * CAPACITY;
    for (int chat = 0; chat < 4; chat++) {
      seconds += 10;
      ages.use(request(chat, seconds), one(0, capacity).holding(5 * CAPACITY), 0);
    }
    seconds += 10;
    Candidates held = one(16 * BLOCKS, capacity).holding(5 * CAPACITY);
    ages.use(request(100, seconds), held, 0);
    assertThat(ages.missedTokens(request(0, seconds), held, 0)).isZero();
  }

  /** One engine, which holds so much of the prompt and so much in all. */
  private Candidates held(int credit, long tokens) {
    return one(credit, CAPACITY).holding(tokens);
  }

  private RoutingRequest at(RoutingRequest prompt) {
    return new RoutingRequest(prompt.promptTokens(), prompt.blocks(), null, 1, 0, nanos(seconds));
  }

  private static Candidates one(int credit, int capacity) {
    return new Candidates()
        .add("r0", 0, PrefillCost.DEFAULT, Candidates.NEVER)
        .cached(credit, 0, 0)
        .capacity(capacity);
  }
}
