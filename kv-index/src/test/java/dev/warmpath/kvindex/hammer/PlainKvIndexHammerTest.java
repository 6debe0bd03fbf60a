package dev.warmpath.kvindex.hammer;

import dev.warmpath.kvindex.plain.PlainKvIndex;

/** The plain index while it is written and read. */
class PlainKvIndexHammerTest extends Hammering<PlainKvIndex> {

  PlainKvIndexHammerTest() {
    super(PlainKvIndex::new, index -> 0, true);
  }
}
