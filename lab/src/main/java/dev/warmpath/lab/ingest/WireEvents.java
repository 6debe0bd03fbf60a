package dev.warmpath.lab.ingest;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.lab.index.HashNames;
import dev.warmpath.lab.index.SerialEngine;
import dev.warmpath.simulator.engine.BlockNames;
import dev.warmpath.simulator.engine.CacheListener;
import dev.warmpath.simulator.engine.CachedSequence;
import dev.warmpath.simulator.live.BlockHash;
import dev.warmpath.simulator.live.CacheEvent;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Collects the changes of a cache as the events that an engine publishes. Tokens and engine hashes
 * follow from the names of blocks, so that none are kept.
 *
 * <p>Single writer.
 */
final class WireEvents implements CacheListener {

  private final int vocabulary;
  private List<CacheEvent> events = new ArrayList<>();

  /**
   * @param vocabulary token ids are below it, small ones are frequent
   */
  public WireEvents(int vocabulary) {
    this.vocabulary = vocabulary;
  }

  /** The events since the last call. */
  public List<CacheEvent> take() {
    List<CacheEvent> taken = events;
    events = new ArrayList<>();
    return taken;
  }

  /** The tokens of blocks {@code [from, to)} of a sequence. */
  public int[] tokens(BlockNames names, int from, int to) {
    int[] tokens = new int[(to - from) * SerialEngine.BLOCK_TOKENS];
    for (int block = from; block < to; block++) {
      SplittableRandom random = new SplittableRandom(names.of(block));
      for (int i = 0; i < SerialEngine.BLOCK_TOKENS; i++) {
        double u = random.nextDouble();
        tokens[(block - from) * SerialEngine.BLOCK_TOKENS + i] = (int) (vocabulary * u * u);
      }
    }
    return tokens;
  }

  /** The engine hash of a block. */
  public static BlockHash hash(long name) {
    long hash = HashNames.mixed(name);
    return new BlockHash(ByteBuffer.allocate(Long.BYTES).putLong(hash).array());
  }

  @Override
  public void stored(
      CachedSequence sequence, CacheGroup group, int fromBlock, int toBlock, int heldFrom) {
    List<BlockHash> hashes = new ArrayList<>();
    for (int block = heldFrom; block < toBlock; block++) {
      hashes.add(hash(sequence.name(block)));
    }
    events.add(
        new CacheEvent.Stored(
            group,
            fromBlock == 0 ? null : hash(sequence.name(fromBlock - 1)),
            hashes,
            tokens(sequence::name, fromBlock, toBlock),
            Collections.nCopies(hashes.size(), List.of()),
            null));
  }

  @Override
  public void removed(int group, long blockName) {
    events.add(new CacheEvent.Removed(group, hash(blockName)));
  }

  @Override
  public void cleared() {
    events.add(new CacheEvent.Cleared());
  }
}
