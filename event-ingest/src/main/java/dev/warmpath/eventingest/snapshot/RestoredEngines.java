package dev.warmpath.eventingest.snapshot;

import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.kvindex.KvIndex;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
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
  private final Map<EngineId, EngineSnapshot> unclaimed = new LinkedHashMap<>();

  /**
   * An engine to go on with.
   *
   * @param listener hears once what became of it, and why
   */
  public record Adopted(int slot, StreamSnapshot stream, BiConsumer<EngineFate, String> listener) {}

  /**
   * @param index as the earlier process left it, with a slot for each engine of {@code snapshot}
   */
  public RestoredEngines(KvIndex index, @Nullable IngestSnapshot snapshot, Recovery recovery) {
    this.index = index;
    this.recovery = recovery;
    if (snapshot != null) {
      snapshot.engines().forEach(engine -> unclaimed.put(engine.identity().id(), engine));
    }
  }

  /** What is known of the engine, if its stream can be resumed; each engine is given once. */
  public @Nullable Adopted adopt(EngineSource source) {
    EngineSnapshot snapshot = unclaimed.remove(source.id());
    if (snapshot == null) {
      return null;
    }
    StreamSnapshot stream = snapshot.stream();
    if (stream == null) {
      forget(snapshot, EngineFate.UNKNOWN);
    } else if (!snapshot.identity().equals(EngineSnapshot.Identity.of(source))) {
      forget(snapshot, EngineFate.CHANGED);
    } else {
      long restored = index.stats(snapshot.slot()).namedBlocks();
      recovery.waits(snapshot);
      BiConsumer<EngineFate, String> listener =
          (fate, why) -> recovery.decided(source.id(), fate, why, restored);
      return new Adopted(snapshot.slot(), stream, listener);
    }
    return null;
  }

  /** Forgets the engines of {@code which} that nobody has claimed. */
  public void dropUnclaimed(Predicate<EngineId> which) {
    unclaimed
        .values()
        .removeIf(snapshot -> {
          boolean drop = which.test(snapshot.identity().id());
          if (drop) {
            forget(snapshot, EngineFate.NOT_CONFIGURED);
          }
          return drop;
        });
  }

  private void forget(EngineSnapshot snapshot, EngineFate fate) {
    recovery.refused(snapshot, fate);
    index.removeEngine(snapshot.slot());
  }
}
