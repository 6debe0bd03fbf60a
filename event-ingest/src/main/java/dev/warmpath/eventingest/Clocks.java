package dev.warmpath.eventingest;

import java.time.Clock;
import java.util.function.LongSupplier;

/**
 * What a process knows the time by.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param wallClock the time of day, for people and for other processes; it may be set at any time,
 *     so no duration is measured with it
 * @param nanoClock counts nanoseconds from anywhere, never back
 */
public record Clocks(Clock wallClock, LongSupplier nanoClock) {

  /** The machine's. */
  public static Clocks ofTheMachine() {
    return new Clocks(Clock.systemUTC(), System::nanoTime);
  }
}
