package dev.warmpath.eventingest.memory;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;

/**
 * What must be the same for an engine's blocks to mean the same again.
 *
 * <p>Immutable.
 *
 * @param droppedBlocks see {@link EngineSource}
 */
public record EngineIdentity(EngineId id, String model, EngineDialect dialect, int droppedBlocks) {

  /** Of a configured engine. */
  public static EngineIdentity of(EngineSource source) {
    return new EngineIdentity(
        source.id(), source.model(), source.dialect(), source.droppedBlocks());
  }
}
