package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.runs.memory.RunHeaders;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Walks everything and asserts what {@link RunKvIndex} promises itself.
 *
 * <p>Confined to the writer.
 */
final class Invariants {

  private final Runs runs;
  private final Holdings holdings;
  private final Shelves shelves;
  private final List<@Nullable RunEngine> engines;
  private long listed;

  Invariants(Runs runs, Holdings holdings, Shelves shelves, List<@Nullable RunEngine> engines) {
    this.runs = runs;
    this.holdings = holdings;
    this.shelves = shelves;
    this.engines = engines;
  }

  void check() {
    Set<List<Long>> names = new HashSet<>();
    for (int run = 1; run < runs.headers.bound(); run++) {
      int kind = runs.kind(run);
      check(run, (version(run) & 1) == 0, "version is even");
      if (kind == RunHeaders.NAMES) {
        checkNames(run, names);
      }
      if (kind == RunHeaders.NAMES || kind == RunHeaders.ALIAS) {
        checkListed(run);
      }
    }
    if (listed != runs.hashes.size()) {
      throw new AssertionError("I3 listed=" + listed + " hashes=" + runs.hashes.size());
    }
    engines.stream().filter(engine -> engine != null).forEach(this::checkEngine);
  }

  private void checkNames(int run, Set<List<Long>> names) {
    int[] h = runs.headers.segment(run);
    int at = RunHeaders.at(run);
    int parent = h[at + RunHeaders.PARENT];
    int offset = RunHeaders.parentOffset(h[at + RunHeaders.SHAPE]);
    long local = runs.localHash(run, 0);
    check(run, runs.child(parent, offset, local) == run, "I1 parent finds it");
    check(run, names.add(List.of((long) parent, (long) offset, local)), "I1 no second child");
    check(
        run,
        offset >= runs.length(parent) || runs.localHash(parent, offset) != local,
        "I1 parent does not go on so itself");
    check(run, offset <= runs.length(parent), "I1 hangs within its parent");
    long union = holdings.union(run, 0);
    int top = Long.SIZE - Long.numberOfLeadingZeros(union);
    int childBound = RunHeaders.childBound(h[at + RunHeaders.SHAPE]);
    check(run, runs.length(run) == Math.max(top, childBound), "I4 no longer than needed");
    check(run, runs.length(run) > 0, "I4 not empty");
  }

  private void checkListed(int run) {
    long held = holdings.union(runs.names(run), run);
    for (int offset = 0; offset < RunHeaders.MAX_BLOCKS; offset++) {
      boolean isListed = runs.isListed(run, offset);
      check(run, isListed == (((held >>> offset) & 1) != 0), "I3 listed while held");
      if (isListed) {
        listed++;
        check(run, isFound(run, offset), "I3 found by its hash");
      }
    }
  }

  private boolean isFound(int run, int offset) {
    int found = runs.hashes.find(runs.engineHash(run, offset));
    boolean here = false;
    for (int i = 0; i < found; i++) {
      here |= runs.hashes.found(i) == runs.block(run, offset);
    }
    return here;
  }

  private void checkEngine(RunEngine engine) {
    long held = 0;
    for (Shelf shelf : engine.shelves()) {
      for (int i = 0; i < shelf.runs.size(); i++) {
        held += Long.bitCount(maskAt(shelf, shelf.runs.get(i), i));
      }
    }
    if (held != engine.held()) {
      throw new AssertionError(
          "I2 slot=" + engine.slot() + " bits=" + held + " held=" + engine.held());
    }
  }

  private long maskAt(Shelf shelf, int run, int place) {
    for (int i = 0; i < holdings.count(run); i++) {
      if (holdings.shelfOf(run, i) == shelf.id && holdings.placeOf(run, i) == place) {
        check(run, shelves.get(shelf.id) == shelf, "I2 shelf is open");
        return holdings.mask(run, i);
      }
    }
    throw new AssertionError("I2 run=" + run + " does not know shelf=" + shelf.id);
  }

  private int version(int run) {
    return runs.headers.segment(run)[RunHeaders.at(run) + RunHeaders.VERSION];
  }

  private static void check(int run, boolean holds, String what) {
    if (!holds) {
      throw new AssertionError("run=" + run + ": " + what);
    }
  }
}
