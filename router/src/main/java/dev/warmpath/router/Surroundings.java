package dev.warmpath.router;

import java.time.Clock;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;

/**
 * What the process takes from the world around it.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param nanoClock counts nanoseconds from anywhere
 * @param random thread-safe
 */
public record Surroundings(Clock clock, LongSupplier nanoClock, RandomGenerator random) {

  /** The machine's clocks and a random seed. */
  public static Surroundings ofTheMachine() {
    return new Surroundings(Clock.systemUTC(), System::nanoTime, new Random());
  }
}
