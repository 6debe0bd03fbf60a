package dev.warmpath.kvindex.runs;

/**
 * The first slab is moved too: while that is under way a run looks as if it began otherwise.
 *
 * <p>Confined to one thread.
 */
public final class MovedFirstSlab extends MovedSlabs {

  public MovedFirstSlab() {
    super(0);
  }
}
