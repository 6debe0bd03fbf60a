package dev.warmpath.router.health;

import dev.warmpath.router.fleet.Replica.Health;

/**
 * Turns single checks into a verdict: so many good ones in a row bring a replica up, so many bad
 * ones take it down. The very first good check brings it up at once, so that a start is not
 * delayed.
 *
 * <p>Confined to its event loop.
 */
final class Streak {

  private Health verdict = Health.DOWN;
  private boolean wasUp;
  private int against;

  /**
   * The verdict after one more check.
   *
   * @param rise good checks in a row that bring it up
   * @param fall bad checks in a row that take it down
   */
  Health after(boolean good, int rise, int fall) {
    if (good == (verdict == Health.UP)) {
      against = 0;
      return verdict;
    }
    against++;
    int needed = good ? (wasUp ? rise : 1) : fall;
    if (against >= needed) {
      verdict = good ? Health.UP : Health.DOWN;
      wasUp = true;
      against = 0;
    }
    return verdict;
  }
}
