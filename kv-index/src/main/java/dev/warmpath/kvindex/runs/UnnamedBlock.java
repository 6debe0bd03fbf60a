package dev.warmpath.kvindex.runs;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * An engine hash that an engine holds although its name is not known, and what is known of it.
 *
 * <p>Single writer.
 */
final class UnnamedBlock {

  /** How far the block's name is known. */
  public enum Naming {
    /** Nobody has said what the block is. */
    UNNAMED,
    /** The claim is known, its parent's name is not. */
    ORPHAN,
    /** Two stores disagreed about this block or one before it: it has no name while it is held. */
    CONTRADICTED
  }

  /** The object and its places in two maps. */
  private static final long OBJECT_BYTES = 200;

  public final long engineHash;
  public Naming naming = Naming.UNNAMED;
  public boolean atRoot;
  public long parent;
  public long localHash;

  /** Orphans by age, and orphans of one parent. */
  public @Nullable UnnamedBlock older;

  public @Nullable UnnamedBlock younger;
  public @Nullable UnnamedBlock previousSibling;
  public @Nullable UnnamedBlock nextSibling;

  private int[] shelves = new int[1];
  private int[] copies = new int[1];
  private int size;

  public UnnamedBlock(long engineHash) {
    this.engineHash = engineHash;
  }

  /** Bytes of the object and its arrays. */
  public long bytes() {
    return OBJECT_BYTES + 2 * ((16 + 4L * shelves.length + 7) & ~7);
  }

  public void claim(boolean atRoot, long parent, long localHash) {
    this.atRoot = atRoot;
    this.parent = parent;
    this.localHash = localHash;
  }

  public boolean claims(boolean atRoot, long parent, long localHash) {
    return this.atRoot == atRoot && this.parent == parent && this.localHash == localHash;
  }

  /** Adds copies; true if the shelf had none. */
  public boolean add(int shelf, int count) {
    for (int i = 0; i < size; i++) {
      if (shelves[i] == shelf) {
        copies[i] += count;
        return false;
      }
    }
    if (size == shelves.length) {
      shelves = Arrays.copyOf(shelves, size + 2);
      copies = Arrays.copyOf(copies, size + 2);
    }
    shelves[size] = shelf;
    copies[size++] = count;
    return true;
  }

  /** Takes one copy away; the number left, or −1 when there was none. */
  public int take(int shelf) {
    for (int i = 0; i < size; i++) {
      if (shelves[i] == shelf) {
        int left = --copies[i];
        if (left == 0) {
          size--;
          shelves[i] = shelves[size];
          copies[i] = copies[size];
        }
        return left;
      }
    }
    return -1;
  }

  public boolean isOn(int shelf) {
    for (int i = 0; i < size; i++) {
      if (shelves[i] == shelf) {
        return true;
      }
    }
    return false;
  }

  /** Number of shelves. */
  public int size() {
    return size;
  }

  public int shelf(int index) {
    return shelves[index];
  }

  public int copies(int index) {
    return copies[index];
  }
}
