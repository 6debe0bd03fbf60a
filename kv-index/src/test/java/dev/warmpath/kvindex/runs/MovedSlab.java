package dev.warmpath.kvindex.runs;

/**
 * All slabs but the first are moved.
 *
 * <p>Confined to one thread.
 */
public final class MovedSlab extends MovedSlabs {

  public MovedSlab() {
    super(1);
  }
}
