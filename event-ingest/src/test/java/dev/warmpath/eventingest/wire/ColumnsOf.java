package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/** Columns filled with values, for tests that have no payload. */
public final class ColumnsOf {

  private ColumnsOf() {}

  /** Columns of these events. */
  public static EventColumns events(List<KvEvent> events) {
    try {
      return columns(events);
    } catch (WireException e) {
      throw new IllegalArgumentException("events=" + events.size(), e);
    }
  }

  private static EventColumns columns(List<KvEvent> events) throws WireException {
    EventColumns columns = new EventColumns();
    columns.begin(0);
    for (KvEvent event : events) {
      if (event instanceof BlockStored stored) {
        store(columns, stored);
      } else if (event instanceof BlockRemoved removed) {
        EventRow row = columns.next(EventRow.Kind.REMOVED);
        fill(columns, row, removed.blockHashes(), removed.place());
        columns.add(row);
      } else {
        columns.add(columns.next(EventRow.Kind.CLEARED));
      }
    }
    return columns;
  }

  /** The payload of a store of so many plain blocks and the removal of one, as vLLM writes it. */
  public static byte[] payload(int blocks) {
    BlockKeys keys =
        new BlockKeys(null, null, Collections.nCopies(blocks, List.of()), Naming.DENSE);
    long[] hashes = LongStream.range(0, blocks).map(i -> i * 0x9E3779B97F4A7C15L).toArray();
    BlockTokens tokens = BlockTokens.of(16, IntStream.range(0, 16 * blocks).toArray());
    GroupSpec spec = new GroupSpec("full_attention", 0);
    BlockStored stored = new BlockStored(hashes, 7L, tokens, keys, BlockPlace.GPU, spec);
    BlockRemoved removed = new BlockRemoved(new long[] {7}, BlockPlace.GPU);
    return new KvEventEncoder(KvEventEncoder.Form.MAP)
        .encode(new KvEventBatch(1.5, 0, List.of(stored, removed), Map.of(), ""));
  }

  private static void store(EventColumns columns, BlockStored stored) throws WireException {
    EventRow row = columns.next(EventRow.Kind.STORED);
    fill(columns, row, stored.blockHashes(), stored.place());
    Long parent = stored.parentBlockHash();
    row.atRoot = parent == null;
    row.parent = parent == null ? 0 : parent;
    int[] ids = stored.tokens().ids();
    System.arraycopy(ids, 0, columns.tokensWithRoom(ids.length), row.tokenFrom, ids.length);
    row.tokenCount = ids.length;
    row.blockSizeTokens = stored.tokens().blockSizeTokens();
    row.lookaheadTokens = stored.tokens().lookaheadTokens();
    row.tokenNaming = stored.tokens().naming();
    row.keys = stored.keys();
    row.spec = stored.spec();
    columns.add(row);
  }

  private static void fill(EventColumns columns, EventRow row, long[] hashes, BlockPlace place)
      throws WireException {
    System.arraycopy(
        hashes, 0, columns.hashesWithRoom(2 * hashes.length), row.hashFrom, hashes.length);
    row.hashCount = hashes.length;
    row.place = place;
    row.tier = place.tier();
  }
}
