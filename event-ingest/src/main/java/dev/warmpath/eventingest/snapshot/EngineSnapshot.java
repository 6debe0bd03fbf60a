package dev.warmpath.eventingest.snapshot;

import org.jspecify.annotations.Nullable;

/**
 * What a process saves of one engine beside the index.
 *
 * @param slot its slot in the index
 * @param namedBlocks named blocks that the index held of it
 * @param stream where its stream stood, or null if there is nothing to go on from
 */
public record EngineSnapshot(
    EngineIdentity identity, int slot, long namedBlocks, @Nullable StreamSnapshot stream) {

  public EngineSnapshot {
    if (slot < 0 || namedBlocks < 0) {
      throw new IllegalArgumentException("slot=" + slot + " namedBlocks=" + namedBlocks);
    }
  }
}
