package dev.warmpath.eventingest;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * The time of day and the clock for durations, moved by a test: both together as time passes, the
 * first alone when somebody sets it. Thread-safe.
 */
public final class MovableClock extends Clock implements LongSupplier {

  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");

  /** Overflows soon, as the machine's may. */
  private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE - 5_000_000_000L);

  private final long beginNanos = nanos.get();
  private final AtomicLong setNanos = new AtomicLong();

  /** Time passes. */
  public void pass(Duration time) {
    nanos.addAndGet(time.toNanos());
  }

  /** The time of day is set, forward or back. */
  public void set(Duration change) {
    setNanos.addAndGet(change.toNanos());
  }

  /** Both. */
  public Clocks clocks() {
    return new Clocks(this, this);
  }

  @Override
  public long getAsLong() {
    return nanos.get();
  }

  @Override
  public Instant instant() {
    return BEGIN.plusNanos(nanos.get() - beginNanos).plusNanos(setNanos.get());
  }

  @Override
  public ZoneId getZone() {
    return ZoneOffset.UTC;
  }

  @Override
  public Clock withZone(ZoneId zone) {
    return this;
  }
}
