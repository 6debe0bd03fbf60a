package dev.warmpath.kvindex.snapshot;

import java.util.Locale;

/**
 * What a part of a snapshot tells of. They come in this order; the number in the stream is that of
 * the constant.
 */
public enum Section {
  /** Nothing follows. */
  END,
  /** When it was taken, and of how many engines. */
  HEAD,
  /** Where one engine's event stream stood; one for each engine. */
  STREAM,
  /** The engines of the index, by slot. */
  ENGINES,
  /** Name spaces. */
  ROOTS,
  /** Blocks with names, and who holds them. */
  RUNS,
  /** Copies of blocks beyond the first. */
  COPIES,
  /** Blocks without names. */
  ASIDE;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
