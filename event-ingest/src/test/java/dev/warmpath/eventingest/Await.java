package dev.warmpath.eventingest;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for what other threads bring about. */
public final class Await {

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(30);

  private Await() {}

  /** Returns as soon as the condition holds; fails when it never does. */
  public static void until(String what, BooleanSupplier condition) {
    long deadlineNanos = System.nanoTime() + LIMIT_NANOS;
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadlineNanos) {
        throw new AssertionError("never: " + what);
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
