package dev.warmpath.lab.index;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * What may differ from a cell's own sizes.
 *
 * @param engines number of engines; null for the cell's own
 * @param requests the most requests; null for the cell's own
 * @param trace a Mooncake trace instead of synthetic chats; null for synthetic ones
 */
record CellOptions(@Nullable Integer engines, @Nullable Integer requests, @Nullable Path trace) {

  CellOptions {
    if (engines != null && (engines < 1 || engines > 4096)) {
      throw new IllegalArgumentException("engines=" + engines + ", not 1 to 4096");
    }
    if (requests != null && requests < 1) {
      throw new IllegalArgumentException("requests=" + requests);
    }
  }

  int enginesOr(int own) {
    return engines == null ? own : engines;
  }

  int requestsOr(int own) {
    return requests == null ? own : requests;
  }
}
