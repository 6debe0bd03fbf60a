package dev.warmpath.simulator.fault;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.IndexTotals;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Hours of requests with faults all the time, in the rig's own time: what is kept does not grow,
 * and nothing is credited in error at any look.
 *
 * <p>{@code -Dsoak.minutes=120} makes it two hours.
 */
class SoakTest {

  private static final int MINUTES = Integer.getInteger("soak.minutes", 30);
  private static final int LOOKS = 12;
  private static final int REQUESTS_A_SECOND = 10;
  private static final long SLACK_BYTES = 4 << 20;

  @ParameterizedTest
  @EnumSource
  void nothingGrows(Form form) {
    FaultRig rig = FaultRig.live(form, true);
    Random random = new Random(MINUTES);
    int seconds = MINUTES * 60 / LOOKS;
    long indexBytes = 0;
    long heapBytes = 0;
    for (int look = 0; look < LOOKS; look++) {
      for (int second = 0; second < seconds; second++) {
        rig = strike(rig, random);
        rig.serve(REQUESTS_A_SECOND);
        rig.pass(Duration.ofSeconds(1));
      }
      rig.converge();
      rig.forgetOldPayloads();

      assertThat(rig.known().over()).isZero();
      EngineStats stats = rig.stats();
      assertThat(stats.orphanBlocks()).isLessThanOrEqualTo(FaultRig.MAX_ORPHANS);
      IndexTotals totals = rig.totals();
      assertThat(totals.unansweredQueries()).isZero();
      if (look == LOOKS / 3) {
        indexBytes = totals.bytes();
        heapBytes = liveHeapBytes();
      } else if (look > LOOKS / 3) {
        assertThat(totals.bytes()).isLessThanOrEqualTo(indexBytes + indexBytes / 4);
      }
    }
    assertThat(liveHeapBytes()).isLessThan(heapBytes + SLACK_BYTES);
  }

  /** Something goes wrong every few seconds; returns the rig to go on with. */
  private static FaultRig strike(FaultRig rig, Random random) {
    return switch (random.nextInt(400)) {
      case 0 -> rig.routerRestartedFromSnapshot(2);
      case 2 -> rig.routerRestartedFromSnapshot(2, rig.engine::restart);
      case 3 -> rig.routerRestarted();
      default -> struck(rig, random);
    };
  }

  private static FaultRig struck(FaultRig rig, Random random) {
    switch (random.nextInt(40)) {
      case 0 -> rig.lose(1);
      case 1 -> rig.lose(FaultRig.REPLAYED_BATCHES + 5);
      case 2 -> rig.reconnect(2);
      case 3 -> {
        rig.engine.restart();
        rig.reconnect(1);
      }
      case 4 -> rig.serveSpoilt();
      case 5 -> rig.serveSwapped(4);
      case 6 -> rig.cutReplays = 4;
      case 7 -> rig.serveAdapters(6);
      case 8 -> rig.serveTwice(3);
      case 9 -> {
        rig.engine.reset();
        rig.stream.cleared();
      }
      case 10, 11, 12 -> rig.serveProving(5);
      default -> {
        // Most seconds are quiet.
      }
    }
    return rig;
  }

  private static long liveHeapBytes() {
    long bytes = Long.MAX_VALUE;
    for (int i = 0; i < 3; i++) {
      System.gc();
      bytes = Math.min(bytes, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
    }
    return bytes;
  }
}
