package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.runs.RunEngine.Core;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * Shelves that large engines have left behind: with each write a few runs are taken off them, so
 * that no engine that reconnects keeps the writer from the events of all others.
 *
 * <p>Single writer.
 */
public final class Leftovers {

  /*
   *   clear          an engine's shelves become nobody's at once; their runs are released by and by
   *   suspend again  what was suspended before stands behind what is suspended now, and moves to it
   *
   * Readers credit nobody with either kind, as no layout names such a shelf. A write takes more runs
   * off than it can add, so leftovers do not pile up; for lack of room they go before anything else,
   * and a snapshot is written without them.
   */

  /** Runs of an engine that are few enough to be moved or released within one write. */
  private static final int FEW_RUNS = 512;

  private static final int RUNS_A_WRITE = 64;

  private record Leftover(Shelf from, @Nullable Shelf into, @Nullable RunEngine engine) {}

  private final int fewRuns;
  private final int runsAWrite;
  private final Deque<Leftover> leftovers = new ArrayDeque<>();

  public Leftovers() {
    this(FEW_RUNS, RUNS_A_WRITE);
  }

  public Leftovers(int fewRuns, int runsAWrite) {
    this.fewRuns = fewRuns;
    this.runsAWrite = runsAWrite;
  }

  /** Whether so many runs are done with at once. */
  boolean areFew(int runs) {
    return runs <= fewRuns;
  }

  /** Whether nothing is left to do. */
  public boolean isEmpty() {
    return leftovers.isEmpty();
  }

  /** The engine's shelves become nobody's. */
  void abandon(RunEngine engine, Core core) {
    leftovers.removeIf(leftover -> leftover.engine == engine);
    for (Shelf shelf : engine.shelves()) {
      core.runs().copies.forget(shelf.id);
      leftovers.add(new Leftover(core.shelves().abandon(shelf), null, null));
    }
  }

  /** What stands on one suspended shelf of the engine's is to move to the one before it. */
  void merge(RunEngine engine, Shelf from, Shelf into) {
    leftovers.add(new Leftover(from, into, engine));
  }

  /** The engine's suspended shelves are merged now. */
  void mergeNow(RunEngine engine, Core core) {
    for (Leftover leftover : leftovers) {
      if (leftover.engine == engine) {
        work(leftover, core, Integer.MAX_VALUE);
      }
    }
    leftovers.removeIf(leftover -> leftover.engine == engine);
  }

  /** Does as much as each write does. */
  public void some(Core core) {
    int runs = runsAWrite;
    while (runs > 0 && !leftovers.isEmpty()) {
      runs -= work(leftovers.getFirst(), core, runs);
      if (runs > 0) {
        leftovers.removeFirst();
      }
    }
  }

  /** Does all of it. */
  public void all(Core core) {
    while (!leftovers.isEmpty()) {
      some(core);
    }
  }

  /** Takes at most so many runs off; if there were fewer, the shelf is closed. Returns how many. */
  private static int work(Leftover leftover, Core core, int most) {
    Shelf from = leftover.from;
    int done = 0;
    for (; done < most && from.runs.size() > 0; done++) {
      takeLast(leftover, core);
    }
    if (done < most) {
      if (leftover.engine != null) {
        leftover.engine.merged(from);
      }
      core.shelves().close(from);
    }
    return done;
  }

  private static void takeLast(Leftover leftover, Core core) {
    Holdings holdings = core.holdings();
    Shelf from = leftover.from;
    Shelf into = leftover.into;
    int run = from.runs.get(from.runs.size() - 1);
    int entry = holdings.lastOf(from);
    long mask = holdings.mask(run, entry);
    if (into == null) {
      core.placement().release(from, run, entry, mask);
    } else if (core.room().hasSpare()) {
      holdings.hold(into, run, holdings.sourceOf(run, entry), mask);
      core.placement().release(from, run, entry, mask);
    } else if (leftover.engine != null) {
      leftover.engine.forget(from, run, entry);
    }
  }
}
