package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.EventReader.EventType;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Decodes payloads with an object for each event and arrays of its own, field by field: what {@link
 * ColumnDecoder} is compared with.
 *
 * <p>Thread-safe.
 */
final class ObjectDecoder {

  private static final WordTable BATCH_KEYS =
      new WordTable(List.of("ts", "events", "data_parallel_rank", "attn_dp_rank"));

  /** Decodes one payload, which must be one batch and nothing behind it. */
  public KvEventBatch decode(byte[] payload) throws WireException {
    WireCursor cursor = new WireCursor();
    cursor.begin(payload);
    Draft draft = new Draft(cursor);
    if (cursor.nextIsMap()) {
      draft.readMap();
    } else {
      draft.readArray();
    }
    if (!cursor.atEnd()) {
      throw new WireException(cursor.position(), "something behind the batch");
    }
    return draft.batch();
  }

  /** A batch while it is read. */
  private static final class Draft {

    private final WireCursor cursor;
    private final EventReader fields;
    private final ObjectEventReader reader;
    private final Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
    private final List<KvEvent> events = new ArrayList<>();
    private double timestampSeconds = Double.NaN;
    private int dataParallelRank = -1;
    private boolean eventsSeen;
    private String firstProblem = "";

    Draft(WireCursor cursor) {
      this.cursor = cursor;
      fields = new EventReader(cursor, new EventColumns());
      reader = new ObjectEventReader(cursor, fields);
    }

    void readArray() throws WireException {
      int length = cursor.arrayLength();
      for (int i = 0; i < length; i++) {
        readField(i);
      }
    }

    void readMap() throws WireException {
      int length = cursor.mapLength();
      for (int i = 0; i < length; i++) {
        int key = -1;
        if (cursor.nextIsText()) {
          key = cursor.textAmong(BATCH_KEYS);
        } else {
          cursor.skip();
        }
        readField(key == 3 ? 2 : key);
      }
    }

    private void readField(int index) throws WireException {
      if (index == 1 && !eventsSeen) {
        readEvents();
      } else if (index == 0 && cursor.nextIsNumber()) {
        timestampSeconds = cursor.number();
      } else if (index == 2 && cursor.nextIsInteger()) {
        dataParallelRank = rank(cursor.integer());
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
        readEvent();
      }
    }

    private void readEvent() throws WireException {
      EventType type = fields.locate();
      int end = cursor.position();
      switch (type) {
        case BLOCK_STORED -> readBlockStored();
        case BLOCK_REMOVED -> readBlockRemoved();
        case ALL_BLOCKS_CLEARED -> events.add(new KvEvent.AllBlocksCleared());
        case UNKNOWN ->
            skip(SkipReason.UNKNOWN_TYPE, "an event of unknown type before byte " + end);
        case NONE -> skip(SkipReason.UNTYPED, "an event without a type before byte " + end);
      }
      cursor.seek(end);
    }

    private void readBlockStored() {
      try {
        events.add(reader.blockStored());
      } catch (WireException e) {
        skip(SkipReason.MALFORMED_STORED, "BlockStored: " + e.getMessage());
      }
    }

    private void readBlockRemoved() {
      try {
        events.add(reader.blockRemoved());
      } catch (WireException e) {
        skip(SkipReason.MALFORMED_REMOVED, "BlockRemoved: " + e.getMessage());
      }
    }

    private void skip(SkipReason reason, String problem) {
      skipped.merge(reason, 1, Integer::sum);
      if (firstProblem.isEmpty()) {
        firstProblem = problem;
      }
    }

    KvEventBatch batch() throws WireException {
      if (!eventsSeen) {
        throw new WireException(0, "a batch without events");
      }
      return new KvEventBatch(timestampSeconds, dataParallelRank, events, skipped, firstProblem);
    }
  }
}
