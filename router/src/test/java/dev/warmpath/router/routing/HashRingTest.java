package dev.warmpath.router.routing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.routing.ConsistentHashPolicy.HashRing;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class HashRingTest {

  private final HashRing ring = new HashRing();

  @Test
  void theNextPointIsNeverFarAndTheRingCloses() {
    SplittableRandom random = new SplittableRandom(1);
    double farthest = 0;
    for (int i = 0; i < 10_000; i++) {
      farthest = Math.max(farthest, ring.distance("some", random.nextLong()));
    }
    farthest = Math.max(farthest, ring.distance("some", Long.MAX_VALUE));
    farthest = Math.max(farthest, ring.distance("some", Long.MIN_VALUE));
    assertThat(farthest).isBetween(0.01, 0.1);
  }

  @Test
  void walkingClockwiseShortensTheWay() {
    double from = ring.distance("some", 0);
    long step = (long) (from / 2 * 0x1p62) * 4;
    assertThat(ring.distance("some", step)).isBetween(from * 0.49, from * 0.51);
  }

  @Test
  void namesThatDifferLittleLieApart() {
    assertThat(ring.distance("r1", 0)).isNotEqualTo(ring.distance("r2", 0));
    assertThat(HashRing.hash("a")).isNotEqualTo(HashRing.hash("b"));
  }
}
