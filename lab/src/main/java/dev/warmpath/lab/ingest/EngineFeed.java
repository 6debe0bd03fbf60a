package dev.warmpath.lab.ingest;

import dev.warmpath.kvindex.block.BlockChain;
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

  /**
   * A store whose way into the index is watched.
   *
   * <p>Thread-safe.
   */
  static final class Probe {

    private final int batch;
    private final long lastHash;
    private final BlockChain prompt;
    private final int storedTokens;
    private volatile long dueNanos;

    /**
     * @param batch number of the batch that stores it
     * @param lastHash engine hash of its last block
     * @param prompt ends behind that block
     * @param storedTokens what the engine reuses of {@code prompt} once the block is known
     */
    Probe(int batch, long lastHash, BlockChain prompt, int storedTokens) {
      this.batch = batch;
      this.lastHash = lastHash;
      this.prompt = prompt;
      this.storedTokens = storedTokens;
    }

    int batch() {
      return batch;
    }

    long lastHash() {
      return lastHash;
    }

    BlockChain prompt() {
      return prompt;
    }

    int storedTokens() {
      return storedTokens;
    }

    /** When the engine was to send it; 0 if it is not to be timed. */
    long dueNanos() {
      return dueNanos;
    }

    void due(long nanos) {
      dueNanos = nanos;
    }
  }
}
