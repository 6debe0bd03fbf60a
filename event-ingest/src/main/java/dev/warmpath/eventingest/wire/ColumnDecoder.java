package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.EventReader.EventType;
import java.util.List;

/**
 * Decodes the payloads of an engine's messages, of vLLM and SGLang releases of every age, into
 * columns of its own.
 *
 * <p>Events come as arrays or as maps, batches too; fields and elements that are not known here are
 * passed over. An event that cannot be read is counted by reason and the others are kept, as long
 * as the payload's structure is whole. Otherwise the batch is refused with {@link WireException}:
 * nobody can say what it held, so it counts as lost.
 *
 * <p>Memory is bounded by a small multiple of the payload's length, whatever lengths it declares,
 * and nesting costs none. What a large batch took is given back by {@link #trim}.
 *
 * <p>Confined to one thread.
 */
public final class ColumnDecoder {

  private static final WordTable BATCH_KEYS =
      new WordTable(List.of("ts", "events", "data_parallel_rank", "attn_dp_rank"));
  private static final int RANK = 2;

  private final WireCursor cursor = new WireCursor();
  private final EventColumns columns = new EventColumns();
  private final EventReader reader = new EventReader(cursor, columns);
  private final Repeats repeats = new Repeats(cursor, reader, columns);
  private boolean eventsSeen;

  /**
   * Decodes one payload, which must be one batch and nothing behind it.
   *
   * @return the decoder's columns, filled anew; of no use when it throws
   */
  public EventColumns decode(byte[] payload) throws WireException {
    cursor.begin(payload);
    columns.begin(payload.length);
    eventsSeen = false;
    if (cursor.nextIsMap()) {
      readMap();
    } else {
      readArray();
    }
    if (!cursor.atEnd()) {
      throw new WireException(cursor.position(), "something behind the batch");
    }
    if (!eventsSeen) {
      throw new WireException(0, "a batch without events");
    }
    return columns;
  }

  /** Lets go of what a usual batch does not need; the columns are of no use any more. */
  public void trim() {
    columns.trim();
  }

  private void readArray() throws WireException {
    int length = cursor.arrayLength();
    for (int i = 0; i < length; i++) {
      readField(i);
    }
  }

  private void readMap() throws WireException {
    int length = cursor.mapLength();
    for (int i = 0; i < length; i++) {
      int key = -1;
      if (cursor.nextIsText()) {
        key = cursor.textAmong(BATCH_KEYS);
      } else {
        cursor.skip();
      }
      readField(Math.min(key, RANK));
    }
  }

  private void readField(int index) throws WireException {
    if (index == 1 && !eventsSeen) {
      readEvents();
    } else if (index == 0 && cursor.nextIsNumber()) {
      columns.timestampSeconds = cursor.number();
    } else if (index == RANK && cursor.nextIsInteger()) {
      columns.dataParallelRank = rank(cursor.integer());
    } else {
      cursor.skip();
    }
  }

  private static int rank(long value) {
    return value >= 0 && value <= Integer.MAX_VALUE ? (int) value : -1;
  }

  private void readEvents() throws WireException {
    eventsSeen = true;
    int length = cursor.arrayLength();
    for (int i = 0; i < length; i++) {
      columns.requireRoom(0);
      if (!repeats.read()) {
        readEvent();
      }
    }
  }

  private void readEvent() throws WireException {
    int start = cursor.position();
    EventType type = reader.locate();
    int end = cursor.position();
    switch (type) {
      case BLOCK_STORED -> readBlockStored(start, end);
      case BLOCK_REMOVED -> readBlockRemoved(start, end);
      case ALL_BLOCKS_CLEARED -> reader.allBlocksCleared();
      case UNKNOWN ->
          columns.skip(SkipReason.UNKNOWN_TYPE, "an event of unknown type before byte " + end);
      case NONE -> columns.skip(SkipReason.UNTYPED, "an event without a type before byte " + end);
    }
    cursor.seek(end);
  }

  private void readBlockStored(int start, int end) {
    try {
      repeats.keep(reader.blockStored(), start, end);
    } catch (WireException e) {
      columns.skip(SkipReason.MALFORMED_STORED, "BlockStored: " + e.getMessage());
    }
  }

  private void readBlockRemoved(int start, int end) {
    try {
      repeats.keep(reader.blockRemoved(), start, end);
    } catch (WireException e) {
      columns.skip(SkipReason.MALFORMED_REMOVED, "BlockRemoved: " + e.getMessage());
    }
  }
}
