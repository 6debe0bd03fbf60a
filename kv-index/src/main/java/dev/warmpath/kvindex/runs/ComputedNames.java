package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.Runs.NOWHERE;

import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.runs.RunEngine.Core;
import dev.warmpath.kvindex.runs.Shelves.Shelf;

/**
 * Names of an engine's blocks that were computed and not heard: they go where what is suspended
 * stands, so that nobody is credited with them.
 *
 * <p>What was heard goes before. Single writer.
 */
final class ComputedNames {

  private final RunEngine engine;
  private final Core core;
  private final UnnamedBlocks unnamed;
  private final Claims claims;

  ComputedNames(RunEngine engine, Core core, UnnamedBlocks unnamed, Claims claims) {
    this.engine = engine;
    this.core = core;
    this.unnamed = unnamed;
    this.claims = claims;
  }

  /** Names blocks {@code from … to − 1}, if there is room; false if not all could be named. */
  boolean compute(Shelf shelf, StoredBlocks names, int from, int to) {
    Shelf suspended = shelf.suspended;
    if (suspended == null || !core.room().has(to - from)) {
      return false;
    }
    int next = from;
    while (next < to && compute(shelf, suspended, names, next)) {
      next++;
    }
    return next == to;
  }

  private boolean compute(Shelf shelf, Shelf suspended, StoredBlocks names, int index) {
    long place = engine.behind(names, index);
    if (place == NOWHERE) {
      return false;
    }
    long name = core.placement().childPlace(place, names.localHash(index));
    long at = engine.find(names.engineHash(index));
    if (at == NOWHERE) {
      if (name != NOWHERE && isKnown(name)) {
        return false;
      }
      UnnamedBlock block = unnamed.get(names.engineHash(index));
      if (block == null) {
        return put(suspended, place, names, index);
      }
      at = claims.name(block, names, index) ? engine.find(names.engineHash(index)) : NOWHERE;
    } else if (engine.nameOf(at) != name) {
      return false;
    }
    return at != NOWHERE && suspend(shelf, suspended, at);
  }

  /** Whether the engine has a block of this name, then under another hash. */
  private boolean isKnown(long name) {
    return ((engine.suspended().known(Runs.run(name)) >>> Runs.offset(name)) & 1) != 0;
  }

  private boolean put(Shelf suspended, long place, StoredBlocks names, int index) {
    boolean put = core.placement().of(engine, suspended).put(place, names, index, 1) == 1;
    if (put) {
      claims.adopt(names, index, index + 1);
    }
    return put;
  }

  private boolean suspend(Shelf shelf, Shelf suspended, long at) {
    int source = Runs.run(at);
    int run = core.runs().names(source);
    long bit = 1L << Runs.offset(at);
    long known = 0;
    for (Shelf next = shelf; next != null; next = next.suspended) {
      known |= core.holdings().held(run, source, next.id);
    }
    if ((known & bit) == 0) {
      core.holdings().hold(suspended, run, source, bit);
      engine.more(suspended, 1);
    }
    return true;
  }
}
