package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.WireException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where the fields of one event lie in its payload, whichever of the two forms it has: an array
 * with the type first and the fields in a fixed order, or a map with the type among its keys.
 *
 * <p>Locating walks the whole event, so that reading its fields afterwards meets wrong types only,
 * never a broken structure.
 *
 * <p>Confined to its decoder.
 */
final class EventFields {

  /** The known fields; up to the window in the order of a store in array form, from index 0. */
  enum Field {
    TYPE,
    BLOCK_HASHES,
    PARENT_BLOCK_HASH,
    TOKEN_IDS,
    BLOCK_SIZE,
    LORA_ID,
    MEDIUM,
    LORA_NAME,
    EXTRA_KEYS,
    GROUP_IDX,
    KV_CACHE_SPEC_KIND,
    KV_CACHE_SPEC_SLIDING_WINDOW,
    LOCALITY,
    LOOKAHEAD_TOKEN_IDS,
    CACHE_SALT;

    private static final Field[] ALL = values();
    private static final byte[][] NAMES = names(ALL);
  }

  /** The types of event. */
  enum EventType {
    BLOCK_STORED,
    BLOCK_REMOVED,
    ALL_BLOCKS_CLEARED,
    /** Has a name that is not known here. */
    UNKNOWN,
    /** Not an event: nothing in it says its type. */
    NONE;

    private static final EventType[] ALL = values();
    private static final byte[][] NAMES = {
      ascii("BlockStored"), ascii("BlockRemoved"), ascii("AllBlocksCleared")
    };
  }

  private static final int STORED_ARRAY_FIELDS = Field.KV_CACHE_SPEC_SLIDING_WINDOW.ordinal();

  private static final int ABSENT = -1;

  private final WireCursor cursor;
  private final int[] offsets = new int[Field.ALL.length];

  EventFields(WireCursor cursor) {
    this.cursor = cursor;
  }

  /** Walks over the event that comes next and returns its type. */
  EventType locate() throws WireException {
    Arrays.fill(offsets, ABSENT);
    if (cursor.nextIsArray()) {
      return locateInArray();
    }
    if (cursor.nextIsMap()) {
      return locateInMap();
    }
    cursor.skip();
    return EventType.NONE;
  }

  /** Moves the cursor to the field; false when it is absent or nil. */
  boolean find(Field field) throws WireException {
    int offset = offsets[field.ordinal()];
    if (offset == ABSENT) {
      return false;
    }
    cursor.seek(offset);
    return !cursor.skipNil();
  }

  /** Moves the cursor to a field that must be there; false when it is nil. */
  boolean require(Field field) throws WireException {
    if (offsets[field.ordinal()] == ABSENT) {
      throw new WireException(
          cursor.position(), "no " + field.name().toLowerCase(Locale.ROOT) + " in an event");
    }
    return find(field);
  }

  private EventType locateInArray() throws WireException {
    int length = cursor.arrayLength();
    if (length == 0) {
      return EventType.NONE;
    }
    EventType type = readType();
    for (int i = 1; i < length; i++) {
      Field field = fieldOfArray(type, i);
      if (field != null) {
        offsets[field.ordinal()] = cursor.position();
      }
      cursor.skip();
    }
    return type;
  }

  private static @Nullable Field fieldOfArray(EventType type, int index) {
    if (type == EventType.BLOCK_STORED) {
      return index <= STORED_ARRAY_FIELDS ? Field.ALL[index] : null;
    }
    if (type != EventType.BLOCK_REMOVED) {
      return null;
    }
    return switch (index) {
      case 1 -> Field.BLOCK_HASHES;
      case 2 -> Field.MEDIUM;
      case 3 -> Field.GROUP_IDX;
      default -> null;
    };
  }

  private EventType locateInMap() throws WireException {
    int length = cursor.mapLength();
    for (int i = 0; i < length; i++) {
      int field = ABSENT;
      if (cursor.nextIsText()) {
        field = cursor.textAmong(Field.NAMES);
      } else {
        cursor.skip();
      }
      if (field != ABSENT) {
        offsets[field] = cursor.position();
      }
      cursor.skip();
    }
    int end = cursor.position();
    EventType type = EventType.NONE;
    if (find(Field.TYPE)) {
      type = readType();
    }
    cursor.seek(end);
    return type;
  }

  private EventType readType() throws WireException {
    if (!cursor.nextIsText()) {
      cursor.skip();
      return EventType.NONE;
    }
    int known = cursor.textAmong(EventType.NAMES);
    return known < 0 ? EventType.UNKNOWN : EventType.ALL[known];
  }

  private static byte[][] names(Field[] fields) {
    return Arrays.stream(fields)
        .map(field -> ascii(field.name().toLowerCase(Locale.ROOT)))
        .toArray(byte[][]::new);
  }

  private static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
