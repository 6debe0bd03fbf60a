package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.Runs.NOWHERE;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.runs.RunEngine.Core;
import dev.warmpath.kvindex.runs.Shelves.Shelf;
import java.util.List;

/**
 * What one engine held before events were lost, and may hold still.
 *
 * <p>Single writer.
 */
final class SuspendedBlocks {

  /*
   * Beside the shelf (tier, group) an engine may have a suspended shelf (tier, ~group). No layout names a
   * negative group, so readers credit nobody with what is on it; parents are found there, hashes are
   * listed for it, and room is made of it as of any other.
   *
   *   suspend  the shelf becomes the suspended shelf, and a new, empty one is opened in its place
   *   compute  a block of which only the hash is known is put on the suspended shelf, as if it had been held
   *   again    a few blocks are put on the suspended shelf; if there are more, the shelf becomes the first
   *            suspended shelf and the other one stands behind it until its blocks have moved (Leftovers)
   *   settle   a block is stored, confirmed or removed: its bit goes off the suspended shelf
   *
   * Hashes stay listed while any shelf has the block, so a block is held before it goes off the suspended shelf.
   */

  private final RunEngine engine;
  private final Core core;
  private final Holdings holdings;
  private long blocks;

  SuspendedBlocks(RunEngine engine, Core core) {
    this.engine = engine;
    this.core = core;
    holdings = core.holdings();
  }

  /** How many blocks are suspended. */
  public long blocks() {
    return blocks;
  }

  /** So many blocks more, or less, stand on suspended shelves. */
  void more(long added) {
    blocks += added;
  }

  /** Suspends all that is held; returns how many blocks that is. */
  long suspend() {
    long before = blocks;
    core.leftovers().mergeNow(engine, core);
    for (Shelf shelf : List.copyOf(engine.shelves())) {
      Shelf earlier = shelf.suspended;
      core.runs().copies.forget(shelf.id);
      if (earlier != null && core.leftovers().areFew(shelf.runs.size())) {
        move(shelf, earlier);
      } else if (!shelf.isSuspended()) {
        engine.suspend(shelf);
      }
    }
    blocks += engine.held();
    engine.heldMore(-(int) engine.held());
    return blocks - before;
  }

  /**
   * Adds what a shelf holds to what is suspended already; what there is no room for is forgotten.
   */
  private void move(Shelf shelf, Shelf suspended) {
    while (shelf.runs.size() > 0) {
      int run = shelf.runs.get(shelf.runs.size() - 1);
      int entry = holdings.lastOf(shelf);
      if (core.room().hasSpare()) {
        int source = holdings.sourceOf(run, entry);
        long mask = holdings.mask(run, entry);
        holdings.hold(suspended, run, source, mask);
        core.placement().release(shelf, run, entry, mask);
      } else {
        engine.forget(shelf, run, entry);
      }
    }
  }

  /** The blocks are on the shelf, or known not to be: they are suspended no more. */
  void unsuspend(Shelf shelf, int run, int source, long mask) {
    for (Shelf next = shelf.suspended; next != null && blocks > 0; next = next.suspended) {
      int entry = holdings.find(run, source, next.id);
      long known = entry < 0 ? 0 : holdings.mask(run, entry) & mask;
      if (known != 0) {
        core.placement().release(next, run, entry, known);
        blocks -= Long.bitCount(known);
      }
    }
  }

  /** The engine holds the block before {@code place} on the shelf, and so all before that one. */
  void confirmBefore(Shelf shelf, long place) {
    long end = place;
    while (end != NOWHERE && blocks > 0 && core.runs().kind(Runs.run(end)) == RunHeaders.NAMES) {
      int run = Runs.run(end);
      long all = -1L >>> (Long.SIZE - Runs.offset(end));
      long unknown = all & ~known(run);
      confirm(shelf, run, unknown == 0 ? all : all & ~(-1L >>> Long.numberOfLeadingZeros(unknown)));
      long before = unknown == 0 ? core.runs().before(run) : NOWHERE;
      end = before == NOWHERE ? NOWHERE : before + 1;
    }
  }

  /**
   * The engine holds the first blocks of a prompt on the shelf; returns how many were suspended.
   */
  long confirm(Shelf shelf, BlockChain prompt, int count) {
    long before = blocks;
    int root = core.runs().roots().run(prompt.space().rootKey());
    long place = root == 0 ? NOWHERE : Runs.place(root, 0);
    for (int i = 0; i < Math.min(count, prompt.blocks()) && place != NOWHERE; i++) {
      long name = core.placement().childPlace(place, prompt.localHash(i));
      if (name != NOWHERE) {
        confirmUnannounced(shelf, name);
      }
      place = name == NOWHERE ? NOWHERE : name + 1;
    }
    return before - blocks;
  }

  private void confirmUnannounced(Shelf shelf, long name) {
    int run = Runs.run(name);
    int source = confirm(shelf, run, 1L << Runs.offset(name));
    if (source != 0 && engine.counting() == CopyCounting.PER_COPY) {
      core.runs().copies.skipNextStore(shelf.id, core.runs().block(source, Runs.offset(name)));
    }
  }

  /** The suspended ones of these blocks are held; returns the source of the last of them, or 0. */
  private int confirm(Shelf shelf, int run, long mask) {
    int confirmed = 0;
    for (int i = holdings.count(run) - 1; i >= 0; i--) {
      if (isSuspendedOf(shelf, holdings.shelfOf(run, i))) {
        int source = holdings.sourceOf(run, i);
        long bits = holdings.mask(run, i) & mask & ~knownBesides(run, source);
        if (bits != 0 && core.room().hasSpare()) {
          holdings.hold(shelf, run, source, bits);
          unsuspend(shelf, run, source, bits);
          engine.heldMore(Long.bitCount(bits));
          confirmed = source;
        }
      }
    }
    return confirmed;
  }

  private static boolean isSuspendedOf(Shelf shelf, int id) {
    Shelf next = shelf.suspended;
    while (next != null && next.id != id) {
      next = next.suspended;
    }
    return next != null;
  }

  /** The blocks of a run that the engine holds or may hold. */
  long known(int run) {
    return knownBesides(run, 0);
  }

  /** The same, under other engine hashes than those of {@code source}. */
  private long knownBesides(int run, int source) {
    long known = 0;
    for (int i = 0; i < holdings.count(run); i++) {
      if (holdings.sourceOf(run, i) != source && engine.owns(holdings.shelfOf(run, i))) {
        known |= holdings.mask(run, i);
      }
    }
    return known;
  }
}
