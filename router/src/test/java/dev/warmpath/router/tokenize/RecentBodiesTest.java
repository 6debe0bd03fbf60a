package dev.warmpath.router.tokenize;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.router.tokenize.RecentBodies.Body;
import dev.warmpath.tokenizer.RequestKind;
import org.junit.jupiter.api.Test;

class RecentBodiesTest {

  @Test
  void theOldestGiveWayAndNothingIsCountedTwice() {
    RecentBodies bodies = new RecentBodies(100);
    Object first = new Object();
    Object second = new Object();
    Object third = new Object();
    bodies.put(first, body(40));
    bodies.put(second, body(40));
    bodies.put(second, body(50));
    assertThat(bodies.heldBytes()).isEqualTo(90);
    bodies.put(third, body(30));
    assertThat(bodies.take(first)).isNull();
    assertThat(bodies.take(second).bytes()).hasSize(50);
    assertThat(bodies.take(second)).isNull();
    assertThat(bodies.heldBytes()).isEqualTo(30);
    bodies.put(first, body(101));
    assertThat(bodies.heldBytes()).isZero();
  }

  @Test
  void keysAreComparedByIdentity() {
    RecentBodies bodies = new RecentBodies(100);
    bodies.put(new String("a"), body(1));
    assertThat(bodies.take(new String("a"))).isNull();
  }

  private static Body body(int bytes) {
    return new Body("m", RequestKind.CHAT, new byte[bytes]);
  }
}
