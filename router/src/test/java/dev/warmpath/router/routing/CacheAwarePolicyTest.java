package dev.warmpath.router.routing;

import static dev.warmpath.router.routing.Fleets.busy;
import static dev.warmpath.router.routing.Fleets.draw;
import static dev.warmpath.router.routing.Fleets.idle;
import static dev.warmpath.router.routing.Fleets.of;
import static dev.warmpath.router.routing.Fleets.prompt;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.CacheAwarePolicy.RoutedPrefixes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class CacheAwarePolicyTest {

  private final CacheAwarePolicy policy = new CacheAwarePolicy(CacheAwarePolicy.Thresholds.DEFAULT);

  @Test
  void followsThePromptAboveTheCacheThreshold() {
    policy.committed(prompt(100, 0, 1, 0), idle(3), 1);
    assertThat(policy.memoryShare()).isGreaterThan(0);
    RoutingRequest above = prompt(31, 69, 1, 5);
    assertThat(policy.choose(above, idle(3))).isEqualTo(1);
    assertThat(policy.reason(above, idle(3), 1)).isEqualTo("cache");
    assertThat(policy.score(above, idle(3), 1).total()).isEqualTo(-31);
    assertThat(policy.score(above, idle(3), 0).total()).isZero();
  }

  @Test
  void takesTheSmallestTreeUpToTheCacheThreshold() {
    policy.committed(prompt(100, 0, 1, 0), idle(3), 1);
    policy.committed(prompt(50, 0, 2, 0), idle(3), 0);
    policy.committed(prompt(60, 0, 3, 0), idle(3), 2);
    RoutingRequest at = prompt(30, 70, 1, 5);
    assertThat(policy.choose(at, idle(3))).isZero();
    assertThat(policy.reason(at, idle(3), 0)).isEqualTo("cold");
    assertThat(policy.score(at, idle(3), 1).total()).isEqualTo(100);
  }

  @Test
  void equalMatchesGoByRequests() {
    policy.committed(prompt(100, 0, 1, 0), idle(3), 0);
    policy.committed(prompt(100, 0, 1, 0), idle(3), 2);
    Candidates candidates = of(busy("a", 5), busy("b", 0), busy("c", 4));
    assertThat(policy.choose(prompt(100, 0, 1, 0), candidates)).isEqualTo(2);
  }

  @Test
  void unevenLoadComesFirst() {
    RoutingRequest known = prompt(100, 0, 1, 0);
    policy.committed(known, idle(2), 0);
    assertThat(policy.choose(known, of(busy("a", 64), busy("b", 0)))).isZero();
    assertThat(policy.choose(known, of(busy("a", 65), busy("b", 0)))).isEqualTo(1);
    assertThat(policy.choose(known, of(busy("a", 225), busy("b", 150)))).as("1.5 times").isZero();
    Candidates uneven = of(busy("a", 226), busy("b", 150));
    assertThat(policy.choose(known, uneven)).isEqualTo(1);
    assertThat(policy.reason(known, uneven, 1)).isEqualTo("load");
  }

  @Test
  void promptsThatAreNotKnownGoByRequests() {
    policy.committed(draw(0), idle(2), 0);
    assertThat(policy.choose(draw(0), of(busy("a", 2), busy("b", 1)))).isEqualTo(1);
  }

  @Test
  void choosingRemembersNothing() {
    RoutingRequest request = prompt(100, 0, 1, 0);
    assertThat(policy.choose(request, idle(4))).isEqualTo(policy.choose(request, idle(4)));
    assertThat(policy.reason(request, idle(4), 0)).isEqualTo("cold");
  }

  @Test
  void treeIsBoundedInBytesAndForgetsTheOldest() {
    RoutedPrefixes tree = new RoutedPrefixes(20_000);
    for (int i = 0; i < 1000; i++) {
      tree.add(prompt(20, 20, 1, i).blocks(), i % 4);
      assertThat(tree.bytes()).isLessThanOrEqualTo(20_000);
    }
    assertThat(tree.matchedBlocks(prompt(20, 20, 1, 0).blocks(), idle(4)))
        .as("the shared part stays, the first end is gone")
        .containsExactly(20, 20, 20, 20);
    assertThat(tree.matchedBlocks(prompt(20, 20, 1, 999).blocks(), idle(4)))
        .containsExactly(20, 20, 20, 40);
  }

  @Test
  void endsOfPromptsAreForgottenBeforeTheirBeginnings() {
    RoutedPrefixes tree = new RoutedPrefixes(20_000);
    tree.add(prompt(20, 20, 1, 0).blocks(), 0);
    tree.add(prompt(20, 20, 1, 1).blocks(), 0);
    PromptBlocks second = prompt(20, 20, 1, 1).blocks();
    List<Integer> depths = new ArrayList<>(List.of(40));
    for (int i = 0; depths.get(depths.size() - 1) > 0; i++) {
      tree.add(prompt(0, 5, 2 + i, 0).blocks(), 1);
      int depth = tree.matchedBlocks(second, idle(1))[0];
      if (depth != depths.get(depths.size() - 1)) {
        depths.add(depth);
      }
    }
    assertThat(depths).containsExactly(40, 20, 0);
    assertThat(tree.blocks(0)).isZero();
  }

  @Test
  void promptLargerThanTheTreeIsNotRemembered() {
    RoutedPrefixes tree = new RoutedPrefixes(20_000);
    tree.add(prompt(20, 0, 1, 0).blocks(), 0);
    tree.add(prompt(2501, 0, 2, 0).blocks(), 1);
    assertThat(tree.blocks(1)).isZero();
    assertThat(tree.blocks(0)).isEqualTo(20);
  }

  /** A tree that never fills, against a map from each prefix to the engines that got it. */
  @Property(tries = 200)
  void matchesAreThoseOfAModel(@ForAll long seed) {
    Random random = new Random(seed);
    RoutedPrefixes tree = new RoutedPrefixes(1 << 20);
    Map<Long, boolean[]> model = new HashMap<>();
    Candidates candidates = idle(4);
    for (int i = 0; i < 60; i++) {
      RoutingRequest asked = some(random);
      assertThat(tree.matchedBlocks(asked.blocks(), candidates)).isEqualTo(matched(model, asked));
      RoutingRequest added = some(random);
      int engine = random.nextInt(4);
      tree.add(added.blocks(), engine);
      for (int block = 0; block < added.blocks().count(); block++) {
        model.computeIfAbsent(added.blocks().key(block), key -> new boolean[4])[engine] = true;
      }
      assertThat(tree.blocks(engine))
          .isEqualTo(model.values().stream().filter(engines -> engines[engine]).count());
    }
  }

  private static RoutingRequest some(Random random) {
    return prompt(random.nextInt(12), random.nextInt(6), random.nextInt(2), random.nextInt(3));
  }

  private static int[] matched(Map<Long, boolean[]> model, RoutingRequest asked) {
    int[] matched = new int[4];
    for (int engine = 0; engine < 4; engine++) {
      boolean[] none = new boolean[4];
      while (matched[engine] < asked.blocks().count()
          && model.getOrDefault(asked.blocks().key(matched[engine]), none)[engine]) {
        matched[engine]++;
      }
    }
    return matched;
  }

  /** Against a model that forgets in order of use, what is remembered is never invented. */
  @Property(tries = 100)
  void whatIsForgottenIsNotMatched(@ForAll long seed) {
    Random random = new Random(seed);
    RoutedPrefixes tree = new RoutedPrefixes(2000);
    Map<Long, boolean[]> everything = new LinkedHashMap<>();
    for (int i = 0; i < 100; i++) {
      RoutingRequest added = some(random);
      int engine = random.nextInt(4);
      tree.add(added.blocks(), engine);
      for (int block = 0; block < added.blocks().count(); block++) {
        everything.computeIfAbsent(added.blocks().key(block), key -> new boolean[4])[engine] = true;
      }
      RoutingRequest asked = some(random);
      int[] found = tree.matchedBlocks(asked.blocks(), idle(4));
      int[] most = matched(everything, asked);
      for (int row = 0; row < 4; row++) {
        assertThat(found[row]).isLessThanOrEqualTo(most[row]);
      }
      assertThat(tree.bytes()).isBetween(0L, 2000L);
      assertThat(Arrays.stream(new int[] {0, 1, 2, 3}).mapToLong(tree::blocks).min().orElse(-1))
          .isGreaterThanOrEqualTo(0);
    }
  }
}
