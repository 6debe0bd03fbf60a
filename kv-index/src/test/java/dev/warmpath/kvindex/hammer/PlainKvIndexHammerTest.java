package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.plain.PlainKvIndex;

/**
 * The plain index while it is written and read. Each query waits for its lock; one that did not
 * would see a whole prompt within some 50,000, in the first seed.
 */
class PlainKvIndexHammerTest extends Hammering<PlainKvIndex> {

  PlainKvIndexHammerTest() {
    super(PlainKvIndex::new, index -> 0, true, 100_000);
  }
}
