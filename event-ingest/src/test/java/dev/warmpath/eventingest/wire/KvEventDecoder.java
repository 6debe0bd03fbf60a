package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.KvEvent.AllBlocksCleared;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What {@link ColumnDecoder} reads, as values that can be compared. */
public final class KvEventDecoder {

  /** Decodes one payload, which must be one batch and nothing behind it. */
  public KvEventBatch decode(byte[] payload) throws WireException {
    return batch(new ColumnDecoder().decode(payload));
  }

  static KvEventBatch batch(EventColumns columns) {
    List<KvEvent> events = new ArrayList<>();
    for (int i = 0; i < columns.events(); i++) {
      events.add(event(columns.row(i)));
    }
    Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
    for (SkipReason reason : SkipReason.values()) {
      if (columns.skipped(reason) > 0) {
        skipped.put(reason, columns.skipped(reason));
      }
    }
    return new KvEventBatch(
        columns.timestampSeconds(),
        columns.dataParallelRank(),
        events,
        skipped,
        columns.firstProblem());
  }

  private static KvEvent event(EventRow row) {
    return switch (row.kind()) {
      case STORED ->
          new BlockStored(
              row.engineHashes(),
              row.atRoot() ? null : (Long) row.parent(),
              new BlockTokens(
                  row.tokenIds(), row.blockSizeTokens(), row.lookaheadTokens(), row.tokenNaming),
              row.keys(),
              row.place(),
              row.spec());
      case REMOVED -> new BlockRemoved(row.engineHashes(), row.place());
      case CLEARED -> new AllBlocksCleared();
    };
  }
}
