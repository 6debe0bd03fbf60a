package dev.warmpath.router.cluster;

/** Spreads numbers over all 64 bits, so that sums of them tell sets apart. */
final class Mix {

  private Mix() {}

  /** SplitMix64's finalizer. */
  static long of(long value) {
    long mixed = value + 0x9e3779b97f4a7c15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
    return mixed ^ (mixed >>> 31);
  }
}
