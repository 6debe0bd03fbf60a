package dev.warmpath.eventingest.snapshot;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What a process saves of all engines beside the index.
 *
 * @param taken when this was so
 * @param engines no two with one id or one slot
 */
public record IngestSnapshot(Instant taken, List<EngineSnapshot> engines) {

  public IngestSnapshot {
    engines = List.copyOf(engines);
    Set<Object> seen = new HashSet<>();
    for (EngineSnapshot engine : engines) {
      if (!seen.add(engine.identity().id()) || !seen.add(engine.slot())) {
        throw new IllegalArgumentException(
            "id=" + engine.identity().id() + " or slot=" + engine.slot() + " twice");
      }
    }
  }

  /** Whether anything of it is worth keeping. */
  public boolean isEmpty() {
    return engines.stream().allMatch(engine -> engine.stream() == null);
  }
}
