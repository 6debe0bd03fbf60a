package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.runs.Shelves.Shelf;
import dev.warmpath.kvindex.runs.UnnamedBlock.Naming;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
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

  private Invariants(RunKvIndex index) {
    runs = index.runs;
    holdings = index.holdings;
    shelves = index.shelves;
    engines = index.engines;
  }

  /** Asserts I1 to I6. */
  static void check(RunKvIndex index) {
    new Invariants(index).check();
  }

  private void check() {
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
    runs.copies.forEach(this::checkCopies);
    engines.stream().filter(engine -> engine != null).forEach(this::checkEngine);
    checkBytes();
  }

  private void checkBytes() {
    long bytes = runs.bytes();
    for (RunEngine engine : engines) {
      bytes += engine == null ? 0 : engine.unnamed().bytes();
    }
    for (int id = 0; id < shelves.bound(); id++) {
      Shelf shelf = shelves.at(id);
      bytes += shelf == null ? 0 : shelf.runs.bytes();
    }
    if (bytes != runs.budget.usedBytes() || bytes > runs.budget.maxBytes()) {
      throw new AssertionError("bytes=" + bytes + " used=" + runs.budget.usedBytes());
    }
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

  private void checkCopies(long key) {
    long place = runs.placeOf((int) key);
    int source = Runs.run(place);
    long held = holdings.held(runs.names(source), source, (int) (key >>> 32));
    check(source, ((held >>> Runs.offset(place)) & 1) != 0, "I2 copies of a held block");
  }

  private void checkEngine(RunEngine engine) {
    long held = 0;
    long suspended = 0;
    Map<Long, Long> places = new HashMap<>();
    for (Shelf shelf : engine.shelves()) {
      for (int i = 0; i < shelf.runs.size(); i++) {
        int run = shelf.runs.get(i);
        int entry = entryAt(shelf, run, i);
        long mask = holdings.mask(run, entry);
        held += shelf.isSuspended() ? 0 : Long.bitCount(mask);
        suspended += shelf.isSuspended() ? Long.bitCount(mask) : 0;
        checkSuspended(shelf, run, entry);
        checkPlaces(places, run, entry);
      }
    }
    engine.unnamed().forEach(block -> checkAside(engine, block, places));
    if (held != engine.held()) {
      throw new AssertionError(
          "I2 slot=" + engine.slot() + " bits=" + held + " held=" + engine.held());
    }
    if (suspended != engine.stats().suspendedBlocks()) {
      throw new AssertionError("I6 slot=" + engine.slot() + " bits=" + suspended);
    }
  }

  private void checkSuspended(Shelf shelf, int run, int entry) {
    int source = holdings.sourceOf(run, entry);
    Shelf suspended = shelf.suspended;
    check(
        run,
        suspended == null || suspended == shelves.get(suspended.id),
        "I6 suspended shelf is open");
    check(
        run,
        suspended == null
            || (holdings.held(run, source, suspended.id) & holdings.mask(run, entry)) == 0,
        "I6 held or suspended");
  }

  private void checkPlaces(Map<Long, Long> places, int run, int entry) {
    int source = holdings.sourceOf(run, entry);
    for (long left = holdings.mask(run, entry); left != 0; left &= left - 1) {
      int offset = Long.numberOfTrailingZeros(left);
      long place = Runs.place(source, offset);
      Long other = places.putIfAbsent(runs.engineHash(source, offset), place);
      check(run, other == null || other == place, "I5 held at one place");
    }
  }

  private void checkAside(RunEngine engine, UnnamedBlock block, Map<Long, Long> places) {
    long hash = block.engineHash;
    boolean waits = block.naming == Naming.ORPHAN;
    UnnamedBlock parent = waits ? engine.unnamed().get(block.parent) : null;
    if (places.containsKey(hash)
        || engine.unnamed().get(hash) != block
        || block.size() == 0
        || IntStream.range(0, block.size()).anyMatch(i -> shelves.get(block.shelf(i)).isSuspended())
        || (waits && !block.atRoot && places.containsKey(block.parent))
        || (parent != null && parent.naming == Naming.CONTRADICTED)) {
      throw new AssertionError("I5 slot=" + engine.slot() + " unnamed=" + hash);
    }
  }

  private int entryAt(Shelf shelf, int run, int place) {
    for (int i = 0; i < holdings.count(run); i++) {
      if (holdings.shelfOf(run, i) == shelf.id && holdings.placeOf(run, i) == place) {
        check(run, shelves.get(shelf.id) == shelf, "I2 shelf is open");
        return i;
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
