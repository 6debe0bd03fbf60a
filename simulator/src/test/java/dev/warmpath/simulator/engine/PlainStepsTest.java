package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import dev.warmpath.kvindex.CacheGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.IntConsumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Many plain steps at once are the same as one by one. */
class PlainStepsTest {

  @Property(tries = 300)
  void leaveWhatSingleStepsLeave(@ForAll long seed, @ForAll boolean polynomial) {
    CostModel cost = polynomial ? CostModel.PolynomialCost.DYNAMO : StepCost.H100X4;
    Run single = new Run(new Random(seed), cost);
    Run many = new Run(new Random(seed), cost);
    Random moves = new Random(seed);
    for (int round = 0; round < 200; round++) {
      single.act();
      many.act();
      int plain = many.engine.plainSteps();
      assertThat(plain).isEqualTo(single.engine.plainSteps());
      int steps = plain == 0 ? 0 : 1 + moves.nextInt(plain);
      double millis = many.engine.plainMillis(steps);
      many.engine.passPlain(steps);
      assertThat(single.plain(steps)).isCloseTo(millis, within(1e-9 * (1 + millis)));
      assertThat(many.state()).isEqualTo(single.state());
      if (many.engine.plainSteps() == 0) {
        assertThat(many.step()).isEqualTo(single.step());
      }
    }
    assertThat(many.trace).isEqualTo(single.trace);
    many.engine.checkInvariants();
  }

  @Test
  void endWhereABlockIsFilledOrNeededAndBeforeTheLastToken() {
    EngineConfig config = TestEngines.config(8, 50, 100);
    SimulatedEngine engine = new SimulatedEngine(config, new Run(new Random(1), config.cost()));
    engine.submit(new EngineRequest(block -> block, 10, 15));
    List<Integer> plain = new ArrayList<>();
    while (!engine.idle()) {
      plain.add(engine.plainSteps());
      engine.beginStep();
      assertThat(engine.plainSteps()).as("in the middle of a step").isZero();
      engine.endStep((request, index, last) -> {});
    }
    assertThat(plain).containsExactly(0, 5, 4, 3, 2, 1, 0, 0, 6, 5, 4, 3, 2, 1, 0);
  }

  @Test
  void needNobodyWaiting() {
    EngineConfig config = TestEngines.config(8, 50, 100);
    SimulatedEngine engine = new SimulatedEngine(config, new Run(new Random(1), config.cost()));
    engine.submit(new EngineRequest(block -> block, 10, 15));
    engine.beginStep();
    engine.endStep((request, index, last) -> {});
    engine.submit(new EngineRequest(block -> 100 + block, 10, 15));

    assertThat(engine.plainSteps()).isZero();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> engine.passPlain(1))
        .withMessage("steps=1 plain=0");
  }

  /** An engine under a random load, and everything that it reports. */
  private static final class Run implements CacheListener {
    final List<String> trace = new ArrayList<>();
    final SimulatedEngine engine;
    private final Random random;
    private final List<EngineRequest> requests = new ArrayList<>();
    private final int maxTokens;

    Run(Random random, CostModel cost) {
      this.random = random;
      List<CacheGroup> groups = new ArrayList<>();
      int size = 3 + random.nextInt(20);
      groups.add(new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, size, 0));
      for (int group = 1; group <= random.nextInt(3); group++) {
        int window = 1 + random.nextInt(4 * size);
        groups.add(new CacheGroup(group, CacheGroup.Kind.SLIDING_WINDOW, size, window));
      }
      KvCacheConfig cache =
          new KvCacheConfig(size, 40 + random.nextInt(200), groups, random.nextBoolean());
      maxTokens = cache.maxSequenceTokens();
      int stepTokens = 2 + random.nextInt(40);
      engine = new SimulatedEngine(new EngineConfig(cache, stepTokens, 5, maxTokens, cost), this);
    }

    /** Submits, aborts or resets, or most of the time does nothing. */
    void act() {
      switch (random.nextInt(24)) {
        case 0 -> trace.add("reset " + engine.resetPrefixCache());
        case 1 -> pick(i -> engine.abort(requests.get(i)));
        case 2, 3, 4 -> {
          int tokens = Math.min(maxTokens, 2 + random.nextInt(120));
          int prompt = 1 + random.nextInt(tokens - 1);
          long family = 1000L * random.nextInt(4);
          requests.add(new EngineRequest(block -> family + block, prompt, tokens - prompt));
          engine.submit(requests.get(requests.size() - 1));
        }
        default -> {}
      }
    }

    double step() {
      double millis = engine.beginStep();
      engine.endStep((request, index, last) -> trace.add(index + " " + last));
      return millis;
    }

    /** Takes plain steps one by one; none may report anything but tokens from the middle. */
    double plain(int steps) {
      List<String> before = List.copyOf(trace);
      double millis = 0;
      for (int i = 0; i < steps; i++) {
        millis += engine.beginStep();
        engine.endStep((request, index, last) -> {
          assertThat(index).isPositive();
          assertThat(last).isFalse();
        });
      }
      assertThat(trace).isEqualTo(before);
      return millis;
    }

    String state() {
      StringBuilder state = new StringBuilder(engine.load().toString());
      requests.forEach(request ->
          state.append(' ').append(request.generatedTokens()).append(request.computedTokens));
      return state.toString();
    }

    private void pick(IntConsumer action) {
      if (!requests.isEmpty()) {
        action.accept(random.nextInt(requests.size()));
      }
    }

    @Override
    public void stored(CachedSequence sequence, CacheGroup group, int from, int to, int heldFrom) {
      trace.add("stored %d %d-%d/%d".formatted(group.index(), from, to, heldFrom));
    }

    @Override
    public void removed(int group, long blockName) {
      trace.add("removed " + group + " " + blockName);
    }

    @Override
    public void cleared() {
      trace.add("cleared");
    }
  }
}
