package dev.warmpath.lab.ingest;

import java.util.List;

/**
 * All that one engine sends, from batch 0 on.
 *
 * <p>Immutable, as long as nobody writes to the arrays.
 *
 * @param payloads of its batches
 * @param eventBlocks blocks stored and removed by each batch
 * @param heldBlocks held at the end
 * @param probes some of its stores, in the order of their batches
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record EngineFeed(byte[][] payloads, int[] eventBlocks, int heldBlocks, List<Probe> probes) {

  int batches() {
    return payloads.length;
  }
}
