package dev.warmpath.router;

import dev.warmpath.eventingest.Clocks;
import dev.warmpath.kvindex.KvIndex;
import dev.warmpath.router.config.Reloader.ConfigLoader;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Random;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Clocks, randomness and places that the process depends on.
 *
 * <p>Thread-safe if its parts are.
 *
 * @param clock the time of day, for people and dates; it may be set, so no duration is measured
 *     with it
 * @param nanoClock counts nanoseconds from anywhere, never back
 * @param random thread-safe
 * @param dataDirectory where to keep snapshots if the configuration does not say; null for nowhere
 * @param watch puts something before the index that sees all calls, on the threads that make them
 * @param loader reads the configuration anew
 * @param heapDead done when the Java heap stays full
 */
public record Environment(
    Clock clock,
    LongSupplier nanoClock,
    RandomGenerator random,
    @Nullable Path dataDirectory,
    UnaryOperator<KvIndex> watch,
    ConfigLoader loader,
    Runnable heapDead) {

  /** With an index that nobody watches, and a configuration that is not read anew. */
  public Environment(
      Clock clock, LongSupplier nanoClock, RandomGenerator random, @Nullable Path dataDirectory) {
    this(clock, nanoClock, random, dataDirectory, index -> index, ConfigLoader.NONE, () -> {});
  }

  /** The machine's clocks and a random seed; nothing is kept. */
  public static Environment ofTheMachine() {
    return new Environment(Clock.systemUTC(), System::nanoTime, new Random(), null);
  }

  /** Both clocks. */
  Clocks clocks() {
    return new Clocks(clock, nanoClock);
  }

  /** The same with a directory to keep snapshots in. */
  public Environment keepingIn(Path directory) {
    return new Environment(clock, nanoClock, random, directory, watch, loader, heapDead);
  }

  /** The same with an index that is watched. */
  public Environment watching(UnaryOperator<KvIndex> watch) {
    return new Environment(clock, nanoClock, random, dataDirectory, watch, loader, heapDead);
  }

  /** The same with a configuration that can be read anew. */
  public Environment loading(ConfigLoader loader) {
    return new Environment(clock, nanoClock, random, dataDirectory, watch, loader, heapDead);
  }

  /** The same with an end for a process whose heap stays full. */
  public Environment ending(Runnable heapDead) {
    return new Environment(clock, nanoClock, random, dataDirectory, watch, loader, heapDead);
  }
}
