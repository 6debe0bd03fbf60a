package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.WireException;
import java.util.Arrays;
import java.util.List;
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

  /**
   * The known fields; up to the lookahead tokens in the order of a store in array form, from index
   * 0. Releases with arrays end at the window; what follows it is a field of its place only if it
   * is of its kind.
   */
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
    OWNERSHIP,
    SESSION_ID,
    LOOKAHEAD_TOKEN_IDS,
    CACHE_SALT,
    WINDOW_SIZE;

    private static final Field[] ALL = values();
    private static final WordTable NAMES = names(ALL);
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
    private static final WordTable NAMES =
        new WordTable(List.of("BlockStored", "BlockRemoved", "AllBlocksCleared"));
  }

  private static final int STORED_ARRAY_FIELDS = Field.LOOKAHEAD_TOKEN_IDS.ordinal();

  private static final int TOKEN_IDS = Field.TOKEN_IDS.ordinal();
  private static final int ABSENT = -1;

  private static final int NOT_READ = -1;

  private final WireCursor cursor;
  private final EventColumns columns;
  private final int[] offsets = new int[Field.ALL.length];
  private int idsRead;
  private boolean idsFit;

  /**
   * @param columns where token ids go that are read on the way
   */
  EventFields(WireCursor cursor, EventColumns columns) {
    this.cursor = cursor;
    this.columns = columns;
  }

  /** Walks over the event that comes next and returns its type. */
  EventType locate() throws WireException {
    Arrays.fill(offsets, ABSENT);
    idsRead = NOT_READ;
    if (cursor.nextIsArray()) {
      return locateInArray();
    }
    if (cursor.nextIsMap()) {
      return locateInMap();
    }
    cursor.skip();
    return EventType.NONE;
  }

  /** Where the field begins in the payload; negative when it is absent. */
  int offset(Field field) {
    return offsets[field.ordinal()];
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

  /** How many token ids were read on the way, behind the tokens of the columns; or -1. */
  int idsRead() {
    return idsRead;
  }

  /** Whether the ids that were read are at least 0 and fit an int. */
  boolean idsFit() {
    return idsFit;
  }

  /** Notes where a field begins, and walks over it. */
  private void pass(int field) throws WireException {
    if (field != ABSENT) {
      offsets[field] = cursor.position();
    }
    if (field != TOKEN_IDS || !readIds()) {
      cursor.skip();
    }
  }

  /** Most of an event is its token ids: where they are plain, walking over them is reading them. */
  private boolean readIds() {
    int start = cursor.position();
    idsRead = NOT_READ;
    try {
      if (!cursor.nextIsArray()) {
        return false;
      }
      int count = cursor.arrayLength();
      if (count > 0 && !cursor.nextIsInteger()) {
        cursor.seek(start);
        return false;
      }
      int from = columns.tokenEnd();
      idsFit = cursor.integers(columns.tokensWithRoom(count), from, from + count);
      idsRead = count;
      return true;
    } catch (WireException e) {
      cursor.seek(start);
      return false;
    }
  }

  private EventType locateInArray() throws WireException {
    int length = cursor.arrayLength();
    if (length == 0) {
      return EventType.NONE;
    }
    EventType type = readType();
    for (int i = 1; i < length; i++) {
      Field field = fieldOfArray(type, i);
      pass(field == null || !fits(field) ? ABSENT : field.ordinal());
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
      case 4 -> Field.LOCALITY;
      case 5 -> Field.OWNERSHIP;
      default -> null;
    };
  }

  private boolean fits(Field field) throws WireException {
    return switch (field) {
      case LOCALITY, OWNERSHIP, SESSION_ID -> cursor.nextIsText();
      case LOOKAHEAD_TOKEN_IDS -> cursor.nextIsArray();
      default -> true;
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
      pass(field);
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

  private static WordTable names(Field[] fields) {
    return new WordTable(
        Arrays.stream(fields).map(field -> field.name().toLowerCase(Locale.ROOT)).toList());
  }
}
