package dev.warmpath.lab.gateway;

import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * Starts each request at its instant, whatever became of those before it. One that is late starts
 * at once, and the instants of the others stay where they are.
 */
record OpenLoop(LongSupplier nanoClock, Sleeper sleeper) {

  /** Waits for an instant of the clock; may return early. */
  interface Sleeper {
    void sleepUntil(long nanos) throws InterruptedException;
  }

  /** Calls {@code start} with the number of each request. */
  void run(Schedule schedule, IntConsumer start) throws InterruptedException {
    for (int number = 0; number < schedule.count(); number++) {
      long due = schedule.dueNanos(number);
      while (nanoClock.getAsLong() - due < 0) {
        sleeper.sleepUntil(due);
      }
      start.accept(number);
    }
  }
}
