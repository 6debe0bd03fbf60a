package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.KvIndex;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What an earlier process knew of the engines, given to those that are configured again; the index
 * forgets the others.
 *
 * <p>Confined to the writer.
 */
public final class RestoredEngines {

  private final KvIndex index;
  private final Recovery recovery;
  private final Map<EngineId, EngineMemory> unclaimed = new LinkedHashMap<>();

  /**
   * An engine to go on with.
   *
   * @param listener hears whether it is still the same
   */
  public record Adopted(int slot, StreamMemory stream, ResumeListener listener) {}

  /**
   * @param index as the earlier process left it, with a slot for each engine of {@code memory}
   */
  public RestoredEngines(KvIndex index, @Nullable IngestMemory memory, Recovery recovery) {
    this.index = index;
    this.recovery = recovery;
    if (memory != null) {
      memory.engines().forEach(engine -> unclaimed.put(engine.identity().id(), engine));
    }
  }

  /** What is known of the engine, if its stream can be resumed; each engine is given once. */
  public @Nullable Adopted adopt(EngineSource source) {
    EngineMemory memory = unclaimed.remove(source.id());
    if (memory == null) {
      return null;
    }
    StreamMemory stream = memory.stream();
    if (stream == null) {
      forget(memory, EngineFate.UNKNOWN);
    } else if (!memory.identity().equals(EngineIdentity.of(source))) {
      forget(memory, EngineFate.CHANGED);
    } else if (source.replayEndpoint() == null && Double.isNaN(stream.startSeconds())) {
      forget(memory, EngineFate.NO_REPLAY);
    } else {
      long restored = index.stats(memory.slot()).namedBlocks();
      recovery.waits(memory);
      ResumeListener listener = (fate, why) -> recovery.decided(source.id(), fate, why, restored);
      return new Adopted(memory.slot(), stream, listener);
    }
    return null;
  }

  /** Forgets the engines that nobody claimed. */
  public void dropUnclaimed() {
    unclaimed.values().forEach(memory -> forget(memory, EngineFate.NOT_CONFIGURED));
    unclaimed.clear();
  }

  private void forget(EngineMemory memory, EngineFate fate) {
    recovery.refused(memory, fate);
    index.removeEngine(memory.slot());
  }
}
