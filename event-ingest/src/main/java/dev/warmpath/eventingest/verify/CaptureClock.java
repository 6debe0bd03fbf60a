package dev.warmpath.eventingest.verify;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The time of the record that is being applied.
 *
 * <p>Confined to its verifier.
 */
final class CaptureClock extends Clock {

  private Instant now = Instant.EPOCH;

  void moveTo(double secondsSinceBegin) {
    now = Instant.EPOCH.plusNanos((long) (secondsSinceBegin * 1e9));
  }

  @Override
  public Instant instant() {
    return now;
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
