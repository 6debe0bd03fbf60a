package dev.warmpath.eventingest.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.Payloads;
import dev.warmpath.eventingest.wire.ThreeDecoders;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Whole, broken and hostile payloads without end: three decoders must agree on each, nothing but
 * {@link WireException} may be thrown, memory is bounded by the payload, and whatever was read can
 * be applied to an index. Runs in the profile {@code fuzz} only, for {@code -Dfuzz.minutes}.
 */
final class DecodeFuzz {

  private static final Duration DURATION =
      Duration.ofMillis((long) (60_000 * Double.parseDouble(System.getProperty("fuzz.minutes"))));
  private static final long FIXED_BYTES = 32 << 10;
  private static final long BYTES_PER_BYTE = 64;
  private static final int PAYLOADS_AN_INDEX = 20_000;
  private static final int PAYLOADS_A_SEED = 100;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private final ThreeDecoders decoders = new ThreeDecoders();
  private KvIndex index = new RunKvIndex(IndexLimits.unbounded(100));
  private List<EventApplier> appliers = List.of();
  private long mostBytesPerByte;

  @Test
  void nothingButWireExceptions() {
    long end = System.nanoTime() + DURATION.toNanos();
    long first = System.nanoTime();
    long count = 0;
    for (long seed = first; System.nanoTime() < end; seed++) {
      Payloads payloads = new Payloads(new Random(seed));
      for (int i = 0; i < PAYLOADS_A_SEED; i++, count++) {
        if (count % PAYLOADS_AN_INDEX == 0) {
          startOver();
        }
        byte[] payload = payloads.any();
        try {
          survive(payload);
        } catch (RuntimeException | Error e) {
          String hex = HexFormat.of().formatHex(payload);
          throw new AssertionError("seed=%d payload=%s".formatted(seed, hex), e);
        }
      }
    }
    System.out.printf(
        "fuzz: %,d payloads from seed %d, %,d of them could be read; at most %d bytes a byte%n",
        count, first, decoders.accepted(), mostBytesPerByte);
    assertThat(decoders.accepted()).isPositive();
  }

  private void startOver() {
    index = new RunKvIndex(IndexLimits.unbounded(100));
    appliers = new ArrayList<>();
    for (EngineDialect dialect : EngineDialect.values()) {
      EngineId id = new EngineId(dialect.name(), 0);
      EngineSource source = new EngineSource(id, "m", "tcp://x", false, null, dialect);
      appliers.add(new EventApplier(index, source, new StreamCounters()));
    }
  }

  private void survive(byte[] payload) {
    EventColumns columns = decoders.agree(payload);
    decodeWithinBounds(payload);
    if (columns != null) {
      for (EventApplier applier : appliers) {
        applier.apply(columns);
      }
    }
  }

  /** The least of a few times counts: what the JVM links on first use is not the decoder's. */
  private void decodeWithinBounds(byte[] payload) {
    long bound = FIXED_BYTES + BYTES_PER_BYTE * payload.length;
    long allocated = Long.MAX_VALUE;
    for (int i = 0; i < 5 && allocated > bound; i++) {
      allocated = Math.min(allocated, allocatedBytes(payload));
    }
    assertThat(allocated).isLessThanOrEqualTo(bound);
    if (payload.length > 1024) {
      mostBytesPerByte = Math.max(mostBytesPerByte, allocated / payload.length);
    }
  }

  private long allocatedBytes(byte[] payload) {
    ColumnDecoder decoder = new ColumnDecoder(); // columns that have not grown yet
    long before = threads.getCurrentThreadAllocatedBytes();
    try {
      decoder.decode(payload);
    } catch (WireException e) {
      assertThat(e.byteOffset()).isBetween(0, payload.length);
    }
    return threads.getCurrentThreadAllocatedBytes() - before;
  }
}
