package dev.warmpath.simulator.bench.ingest;

/**
 * How many blocks are decoded and removed for each block that a prefill stores.
 *
 * <p>Immutable.
 */
record EventMix(double decoded, double removed) {

  /** Of 100 event blocks 70 are stored by prefills, 15 by decoding, 15 are removed. */
  static final EventMix FILLING = new EventMix(15 / 70.0, 15 / 70.0);

  /** Caches are full: 35 are stored by prefills, 15 by decoding, 50 are removed. */
  static final EventMix FULL = new EventMix(15 / 35.0, 50 / 35.0);
}
