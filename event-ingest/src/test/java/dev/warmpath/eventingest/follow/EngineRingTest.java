package dev.warmpath.eventingest.follow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.RingFill;
import dev.warmpath.eventingest.follow.IngestOptions.RingLimits;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
final class EngineRingTest {

  private static final Runnable NOTHING = () -> {};

  private final List<EngineRing> ready = new ArrayList<>();
  private int wakes;
  private final RecordingOwner owner = new RecordingOwner();
  private final EngineRing.RingBytes allBytes = new EngineRing.RingBytes(1000);
  private final EngineRing ring = ring(new RingLimits(4, 100, 1000));

  @Test
  void messagesFindRoomUpToTheirNumber() {
    for (int i = 0; i < 4; i++) {
      assertThat(ring.offer(NOTHING, 1)).isTrue();
    }
    assertThat(ring.offer(NOTHING, 1)).isFalse();
    assertThat(ring.fill()).isEqualTo(new RingFill(4, 4, 0, 4));
    assertThat(ring.command(NOTHING)).as("commands always find room").isTrue();
    assertThat(ring.fill().commands()).as("and are counted").isOne();
  }

  @Test
  void messagesFindRoomUpToTheirBytes() {
    assertThat(ring.offer(NOTHING, 60)).isTrue();
    assertThat(ring.offer(NOTHING, 41)).isFalse();
    assertThat(ring.offer(NOTHING, 40)).isTrue();
  }

  @Test
  void aMessageLargerThanTheRingFitsIntoAnEmptyOne() {
    assertThat(ring.offer(NOTHING, 5000)).isTrue();
    assertThat(ring.offer(NOTHING, 1)).isFalse();
  }

  @Test
  void whatIsDrainedMakesRoomInOrder() {
    List<Integer> ran = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int number = i;
      ring.offer(() -> ran.add(number), 25);
    }
    List<EngineRing.Entry> turn = new ArrayList<>();
    ring.drainTo(turn, 3);
    turn.forEach(ring::run);
    assertThat(ran).containsExactly(0, 1, 2);
    assertThat(ring.staysScheduled()).isTrue();
    assertThat(ring.offer(NOTHING, 75)).isTrue();
  }

  @Test
  void theWriterIsToldOnceUntilItHasSeenTheEnd() {
    ring.offer(NOTHING, 1);
    ring.offer(NOTHING, 1);
    assertThat(ready).containsExactly(ring);
    ring.drainTo(new ArrayList<>(), 64);
    assertThat(ring.staysScheduled()).isFalse();
    ring.offer(NOTHING, 1);
    assertThat(ready).containsExactly(ring, ring);
  }

  @Test
  void theWriterIsWokenByAllButLiveMessages() throws InterruptedException {
    StreamMessage live = new StreamMessage(0, new byte[1]);
    assertThat(ring.add(live)).isTrue();
    assertThat(ready).containsExactly(ring);
    assertThat(wakes).isZero();
    ring.offer(NOTHING, 1);
    assertThat(wakes).as("by an offer, though the ring was ready").isEqualTo(1);
    ring.command(NOTHING);
    assertThat(wakes).as("by a command").isEqualTo(2);
    List<EngineRing.Entry> turn = new ArrayList<>();
    ring.drainTo(turn, 64);
    turn.forEach(ring::run);
    assertThat(owner.heard).containsExactly(live);
    ring.put(NOTHING, 1);
    assertThat(wakes).as("by a replay").isEqualTo(3);
  }

  @Test
  void aReplayLeavesHalfTheRingToLiveMessages() throws Exception {
    assertThat(ring.put(NOTHING, 1)).isTrue();
    assertThat(ring.put(NOTHING, 1)).isTrue();
    CompletableFuture<Boolean> third = CompletableFuture.supplyAsync(this::put);
    assertThat(ring.offer(NOTHING, 1)).isTrue();
    ring.drainTo(new ArrayList<>(), 2);
    assertThat(third.get(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aClosedRingTakesNothingAndLetsNobodyWait() throws Exception {
    ring.put(NOTHING, 1);
    ring.put(NOTHING, 1);
    CompletableFuture<Boolean> third = CompletableFuture.supplyAsync(this::put);
    ring.close();
    assertThat(third.get(10, TimeUnit.SECONDS)).isFalse();
    assertThat(ring.command(NOTHING)).isFalse();
    assertThat(ring.offer(NOTHING, 1)).isFalse();
    assertThat(allBytes.hasRoom(2000, 1000)).as("its bytes are free").isTrue();
  }

  @Test
  void engineBelowItsShareFindsRoomThoughOthersTookAll() {
    RingLimits wide = new RingLimits(100, 900, 1000);
    EngineRing flooded = ring(wide);
    EngineRing other = ring(wide);
    assertThat(flooded.offer(NOTHING, 900)).isTrue();
    assertThat(ring.offer(NOTHING, 90)).isTrue();
    assertThat(other.offer(NOTHING, 20)).isTrue();
    assertThat(other.offer(NOTHING, 300)).isTrue();
    assertThat(other.offer(NOTHING, 300)).as("beyond its share").isFalse();
    assertThat(flooded.offer(NOTHING, 0)).isFalse();
  }

  private boolean put() {
    try {
      return ring.put(NOTHING, 1);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private EngineRing ring(RingLimits limits) {
    EngineRing.RingReader reader =
        new EngineRing.RingReader() {
          @Override
          public void ready(EngineRing ring) {
            ready.add(ring);
          }

          @Override
          public void wake() {
            wakes++;
          }
        };
    return new EngineRing(limits, allBytes, reader, owner);
  }
}
