package dev.warmpath.kvindex.runs;

import dev.warmpath.kvindex.StorageTier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One engine's storage for one (tier, group) is a shelf, known by a small dense id; for each shelf
 * the runs of which it holds something.
 *
 * <p>Single writer.
 */
final class Shelves {

  /** The slot of a shelf that no engine has any more. */
  public static final int NOBODY = -1;

  /** One shelf. Single writer. */
  public static final class Shelf {
    public final int id;
    public final int slot;
    public final StorageTier tier;
    public final int group;
    public final IntVector runs;

    /**
     * The shelf of what was on this one and may be there still, for the writer; or null. A
     * suspended shelf has another one here as long as that one's blocks move to it.
     */
    public @Nullable Shelf suspended;

    public Shelf(int id, int slot, StorageTier tier, int group, IntVector runs) {
      this.id = id;
      this.slot = slot;
      this.tier = tier;
      this.group = group;
      this.runs = runs;
    }

    /** Whether it is the suspended shelf of another one. */
    public boolean isSuspended() {
      return group < 0;
    }
  }

  private final ByteBudget budget;
  private final List<@Nullable Shelf> shelves = new ArrayList<>();
  private int free;

  public Shelves(ByteBudget budget) {
    this.budget = budget;
  }

  /** A new shelf with the lowest free id. */
  public Shelf open(int slot, StorageTier tier, int group) {
    int id = shelves.size();
    if (free > 0) {
      id = shelves.indexOf(null);
      free--;
    } else {
      shelves.add(null);
    }
    Shelf shelf = new Shelf(id, slot, tier, group, new IntVector(budget));
    shelves.set(id, shelf);
    return shelf;
  }

  /** Makes a shelf the suspended shelf of a new one, which is returned. */
  public Shelf suspend(Shelf shelf) {
    Shelf suspended = new Shelf(shelf.id, shelf.slot, shelf.tier, ~shelf.group, shelf.runs);
    shelves.set(shelf.id, suspended);
    Shelf fresh = open(shelf.slot, shelf.tier, shelf.group);
    suspended.suspended = shelf.suspended;
    fresh.suspended = suspended;
    return fresh;
  }

  /** Makes a shelf nobody's; returns it as it is then. */
  public Shelf abandon(Shelf shelf) {
    Shelf left = new Shelf(shelf.id, NOBODY, shelf.tier, shelf.group, shelf.runs);
    shelves.set(shelf.id, left);
    return left;
  }

  /** Frees the id of a shelf that holds nothing any more. */
  public void close(Shelf shelf) {
    shelves.set(shelf.id, null);
    free++;
  }

  public Shelf get(int id) {
    Shelf shelf = shelves.get(id);
    if (shelf == null) {
      throw new IllegalStateException("shelf=" + id + " is not open");
    }
    return shelf;
  }

  /** All ids are below this. */
  public int bound() {
    return shelves.size();
  }

  public @Nullable Shelf at(int id) {
    return shelves.get(id);
  }
}
