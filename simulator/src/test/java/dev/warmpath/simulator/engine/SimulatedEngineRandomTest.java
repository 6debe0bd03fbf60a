package dev.warmpath.simulator.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.block.PromptKeys;
import dev.warmpath.simulator.engine.EngineRequest.Transfer;
import dev.warmpath.simulator.live.CacheEvent;
import dev.warmpath.simulator.live.CacheEvent.Removed;
import dev.warmpath.simulator.live.CacheEvent.Stored;
import dev.warmpath.simulator.live.TokenEngine;
import dev.warmpath.simulator.live.TokenEngine.StepResult;
import dev.warmpath.simulator.live.TokenRequest;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random mixes of requests, aborts and resets against what every cache must keep. */
class SimulatedEngineRandomTest {

  @Property(tries = 200)
  void booksBalance(@ForAll long seed, @ForAll boolean hybrid) {
    Random random = new Random(seed);
    TokenEngine engine = engine(random, hybrid);
    Map<Object, Integer> announced = new HashMap<>();
    int started = 0;
    for (int step = 0; step < 150 || !engine.idle(); step++) {
      if (step < 150) {
        started += act(engine, random, started);
      } else {
        freeAll(engine, started);
      }
      engine.beginStep();
      engine.endStep().events().forEach(event -> count(announced, event));
      engine.checkInvariants();
      int held = announced.values().stream().mapToInt(Integer::intValue).sum();
      assertThat(held).isEqualTo(engine.committedBlocks() + engine.hostBlocks());
      assertThat(announced.values()).allMatch(copies -> copies > 0);
    }
    freeAll(engine, started);
    assertThat(engine.load().cacheUsage()).isZero();
  }

  private static void freeAll(TokenEngine engine, int started) {
    for (int i = 0; i < started; i++) {
      engine.free("r" + i);
    }
  }

  @Property(tries = 50)
  void sameInputGivesTheSameSteps(@ForAll long seed, @ForAll boolean hybrid) {
    assertThat(trace(seed, hybrid)).isEqualTo(trace(seed, hybrid));
  }

  private static List<String> trace(long seed, boolean hybrid) {
    Random random = new Random(seed);
    TokenEngine engine = engine(random, hybrid);
    List<String> trace = new ArrayList<>();
    int started = 0;
    for (int step = 0; step < 60; step++) {
      started += act(engine, random, started);
      trace.add(Double.toString(engine.beginStep()));
      StepResult result = engine.endStep();
      trace.add(result.tokens().toString());
      result.events().forEach(event -> trace.add(describe(event)));
    }
    return trace;
  }

  private static TokenEngine engine(Random random, boolean hybrid) {
    List<CacheGroup> groups = new ArrayList<>();
    groups.add(new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 4, 0));
    if (hybrid) {
      groups.add(new CacheGroup(1, CacheGroup.Kind.SLIDING_WINDOW, 4, 1 + random.nextInt(12)));
    }
    KvCacheConfig cache =
        new KvCacheConfig(4, 40 + random.nextInt(40), groups, random.nextBoolean())
            .withHost(hybrid || random.nextBoolean() ? 0 : 1 + random.nextInt(100));
    int stepTokens = 8 + random.nextInt(40);
    return new TokenEngine(
        new EngineConfig(cache, stepTokens, 6, cache.maxSequenceTokens(), StepCost.H100X4)
            .with(new Link(random.nextInt(60), 1000 * random.nextInt(5))),
        TestEngines.HASHING);
  }

  private static int act(TokenEngine engine, Random random, int started) {
    switch (random.nextInt(13)) {
      case 0 -> engine.resetPrefixCache();
      case 1 -> engine.abort("r" + random.nextInt(started + 1));
      case 2, 3, 4, 5, 6 -> {
        engine.submit(request("r" + started, random));
        return 1;
      }
      case 7 -> engine.free("r" + random.nextInt(started + 1));
      default -> {}
    }
    return 0;
  }

  private static TokenRequest request(String id, Random random) {
    int[] prompt = TestEngines.tokens(1000 * random.nextInt(4), 1 + random.nextInt(50));
    int[] answer = TestEngines.tokens(1000 * random.nextInt(4), 1 + random.nextInt(20));
    PromptKeys keys =
        new PromptKeys(
            random.nextInt(5) == 0 ? "lora" : null, random.nextInt(5) == 0 ? "salt" : null);
    Transfer transfer =
        new Transfer(
            random.nextInt(3) > 0 ? 0 : random.nextInt(prompt.length + 1), random.nextInt(4) == 0);
    int cap = random.nextInt(3) > 0 ? EngineRequest.NO_CAP : random.nextInt(30);
    return new TokenRequest(id, prompt, answer, keys, random.nextInt(6) > 0, transfer, cap);
  }

  private static void count(Map<Object, Integer> announced, CacheEvent event) {
    if (event instanceof Stored stored) {
      stored
          .hashes()
          .forEach(hash ->
              announced.merge(
                  List.of(stored.tier(), stored.group().index(), hash), 1, Integer::sum));
    } else if (event instanceof Removed removed) {
      announced.computeIfPresent(
          List.of(removed.tier(), removed.group(), removed.hash()),
          (key, n) -> n == 1 ? null : n - 1);
    } else {
      announced.clear();
    }
  }

  private static String describe(CacheEvent event) {
    return event instanceof Stored stored ? "stored " + stored.hashes() : event.toString();
  }
}
