package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Reads one event into columns: first where its fields lie in the payload, then what they say.
 *
 * <p>An event has one of two forms: an array with the type first and the fields in a fixed order,
 * or a map with the type among its keys. Locating walks the whole event, so that reading its fields
 * afterwards meets wrong types only, never a broken structure. A needed field that is missing or
 * has a wrong type throws {@link WireException}; the columns are then as before.
 *
 * <p>Tokens come in three forms: plain ids, plain ids with lookahead tokens for each hash (vLLM),
 * and pairs of an id and its successor (SGLang). What is neither forbids names only: which hashes
 * are held is known all the same. Ids that do not fit an int, as SGLang's for an image, are made
 * {@linkplain EventRow#narrow negative}.
 *
 * <p>Extra keys are typed by their shape: an array is a multimodal item, binary a digest of
 * embeddings, a text the adapter if it comes first and equals the event's {@code lora_name}, else a
 * salt.
 *
 * <p>Confined to its decoder.
 */
final class EventReader {

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
    WINDOW_SIZE,
    OBJECT_KEY;

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

  /** More groups than any engine has; keeps a peer from choosing how much memory they take. */
  private static final int MAX_GROUP_IDX = 1023;

  private static final int MAX_BLOCK_SIZE = 1 << 30;
  private static final WordTable SALT_KEY = new WordTable(List.of("cache_salt"));
  private static final int MOST_PLAIN = 1024;

  /** A list's place in another list, a list and what it holds, and a key without its text. */
  private static final int PLACE_BYTES = 8;

  private static final int LIST_BYTES = 48;
  private static final int KEY_BYTES = 96;
  private static final int TEXT_BYTES = 56;

  /** Of 8 bytes. */
  private static final int HASH_DIGITS = 16;

  /** Of SHA-256. */
  private static final int DIGEST_DIGITS = 64;

  private final WireCursor cursor;
  private final EventColumns columns;
  private final InternedPlaces repertoire = new InternedPlaces();

  /** Where each field begins. */
  private final int[] offsets = new int[Field.ALL.length];

  private int idsRead;

  /** Keys of stores that have none, by their number of blocks. */
  private BlockKeys[] plainKeys = {};

  /** Whether the keys that are being read allow names. */
  private Naming keyNaming = Naming.DENSE;

  EventReader(WireCursor cursor, EventColumns columns) {
    this.cursor = cursor;
    this.columns = columns;
  }

  // Where the fields lie.

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

  /**
   * How many token ids were read on the way, behind the tokens of the columns; or -1, also if one
   * does not fit an int.
   */
  int idsRead() {
    return idsRead;
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
      boolean fit = cursor.integers(columns.tokensWithRoom(count), from, from + count);
      idsRead = fit ? count : NOT_READ;
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

  // What they say.

  /** The store that was located. */
  EventRow blockStored() throws WireException {
    EventRow row = columns.next(EventRow.Kind.STORED);
    hashes(row, 2);
    row.atRoot = !require(Field.PARENT_BLOCK_HASH);
    row.parent = row.atRoot ? 0 : hash();
    tokens(row);
    row.keys = keys(row.hashCount);
    place(row);
    String kind = text(Field.KV_CACHE_SPEC_KIND);
    repertoire.spec(row, kind, number(Field.KV_CACHE_SPEC_SLIDING_WINDOW, Integer.MAX_VALUE));
    columns.add(row);
    return row;
  }

  /** The removal that was located. */
  EventRow blockRemoved() throws WireException {
    EventRow row = columns.next(EventRow.Kind.REMOVED);
    hashes(row, 1);
    place(row);
    columns.add(row);
    return row;
  }

  void allBlocksCleared() {
    columns.add(columns.next(EventRow.Kind.CLEARED));
  }

  /**
   * @param places in the column for each hash
   */
  private void hashes(EventRow row, int places) throws WireException {
    if (!require(Field.BLOCK_HASHES)) {
      throw new WireException(cursor.position(), "nil for block_hashes");
    }
    int count = cursor.arrayLength();
    if (count == 0 && find(Field.OBJECT_KEY)) {
      hashOfKey(row, places);
      return;
    }
    long[] hashes = columns.hashesWithRoom(places * count);
    for (int i = row.hashFrom; i < row.hashFrom + count; i++) {
      hashes[i] = hash();
    }
    row.hashCount = count;
  }

  /**
   * Mooncake's master tells of an object by its key alone: vLLM's end with the digest, whose last
   * digits are the hash; in SGLang's one underscore or more stand behind it, and its first digits
   * are the hash.
   */
  private void hashOfKey(EventRow row, int places) throws WireException {
    String key = cursor.text();
    int from = key.length() - HASH_DIGITS;
    int page = page(key);
    String owner;
    try {
      if (page >= 0) {
        owner = key.substring(0, page) + EventRow.PAGE + key.substring(page + DIGEST_DIGITS);
        from = page;
      } else if (key.lastIndexOf('@') < from) {
        owner = key.substring(0, Math.max(0, key.lastIndexOf('@')));
      } else {
        return; // somebody else's
      }
      columns.hashesWithRoom(places)[row.hashFrom] =
          Long.parseUnsignedLong(key, from, from + HASH_DIGITS, 16);
    } catch (NumberFormatException e) {
      return; // somebody else's
    }
    row.hashCount = 1;
    row.owner = owner;
    columns.takes(TEXT_BYTES + owner.length());
  }

  /** Where the digest of a page begins with an underscore behind it; negative if there is none. */
  private static int page(String key) {
    int from = -1;
    for (int i = 0; i < key.length(); i++) {
      if (key.charAt(i) == '_' && i - from > DIGEST_DIGITS) {
        return i - DIGEST_DIGITS;
      }
      if (Character.digit(key.charAt(i), 16) < 0) {
        from = i;
      }
    }
    return -1;
  }

  /** An integer as it is, or the last 8 bytes of a digest. */
  private long hash() throws WireException {
    if (!cursor.nextIsBinary()) {
      return cursor.integer();
    }
    int length = cursor.binaryLength();
    if (length == 0) {
      throw new WireException(cursor.position(), "an empty digest");
    }
    cursor.advance(Math.max(0, length - Long.BYTES));
    return cursor.unsigned(Math.min(length, Long.BYTES));
  }

  private void place(EventRow row) throws WireException {
    String medium = text(Field.MEDIUM);
    int group = number(Field.GROUP_IDX, MAX_GROUP_IDX);
    String locality = text(Field.LOCALITY);
    String ownership = text(Field.OWNERSHIP);
    row.windowTokens = number(Field.WINDOW_SIZE, Integer.MAX_VALUE);
    repertoire.place(
        row, medium == null ? BlockPlace.DEFAULT_MEDIUM : medium, group, locality, ownership);
  }

  private int number(Field field, int most) throws WireException {
    return find(field) ? cursor.integerWithin(0, most) : 0;
  }

  private @Nullable String text(Field field) throws WireException {
    return find(field) ? repertoire.text(cursor) : null;
  }

  // Tokens.

  /** Reads the tokens of a store whose hashes are read. */
  private void tokens(EventRow row) throws WireException {
    row.tokenNaming = Naming.DENSE;
    row.lookaheadTokens = 0;
    row.blockSizeTokens = require(Field.BLOCK_SIZE) ? cursor.integerWithin(0, MAX_BLOCK_SIZE) : 0;
    boolean any = require(Field.TOKEN_IDS);
    if (idsRead >= 0) {
      row.tokenCount = idsRead;
    } else {
      int count = any ? cursor.arrayLength() : 0;
      if (count > 0 && cursor.nextIsArray()) {
        tokenPairs(row, count);
        return;
      }
      appendTokens(row, count);
    }
    if (find(Field.LOOKAHEAD_TOKEN_IDS)) {
      int plain = row.tokenCount;
      try {
        lookahead(row);
      } catch (WireException e) { // no list of ids for each hash
        row.tokenCount = plain;
        row.lookaheadTokens = 0;
        forbidNames(row, Naming.UNEVEN);
      }
    }
  }

  private void appendTokens(EventRow row, int count) throws WireException {
    int[] tokens = columns.tokensWithRoom(row.tokenCount + count);
    int from = row.tokenFrom + row.tokenCount;
    int start = cursor.position();
    if (!cursor.integers(tokens, from, from + count)) {
      cursor.seek(start);
      for (int i = row.tokenCount; i < row.tokenCount + count; i++) {
        put(row, i, cursor.integer(), row.tokenCount + count);
      }
    }
    row.tokenCount += count;
  }

  /**
   * Puts one of {@code count} tokens of a store into the column, for which there is room. The first
   * block's are kept as they are, too, if one of them does not fit.
   */
  private void put(EventRow row, int index, long id, int count) throws WireException {
    int[] tokens = columns.tokens();
    tokens[row.tokenFrom + index] = EventRow.narrow(id);
    int kept = Math.min(count, row.blockSizeTokens + 1);
    long[] wide = row.wideIds;
    if (wide == null && id != tokens[row.tokenFrom + index] && index < kept && row.atRoot) {
      columns.takes((long) Long.BYTES * kept);
      wide = new long[kept];
      for (int i = 0; i < index; i++) {
        wide[i] = tokens[row.tokenFrom + i];
      }
      row.wideIds = wide;
    }
    if (wide != null && index < wide.length) {
      wide[index] = id;
    }
  }

  private void tokenPairs(EventRow row, int count) throws WireException {
    int[] tokens = columns.tokensWithRoom(count + 1);
    int from = row.tokenFrom;
    try {
      for (int i = 0; i < count; i++) {
        if (cursor.arrayLength() != 2) {
          forbidNames(row, Naming.BROKEN_LOOKAHEAD);
          return;
        }
        long id = cursor.integer();
        long next = cursor.integer();
        if (i > 0 && tokens[from + i] != EventRow.narrow(id)) {
          forbidNames(row, Naming.BROKEN_LOOKAHEAD);
        }
        put(row, i, id, count + 1);
        put(row, i + 1, next, count + 1);
        row.tokenCount = i + 2;
        row.lookaheadTokens = 1;
      }
    } catch (WireException e) { // something else than a pair of ids
      forbidNames(row, Naming.BROKEN_LOOKAHEAD);
    }
  }

  private void lookahead(EventRow row) throws WireException {
    int entries = cursor.arrayLength();
    if (entries != row.hashCount) {
      forbidNames(row, Naming.UNEVEN);
    }
    if (entries == 0
        || row.tokenNaming != Naming.DENSE
        || (long) entries * row.blockSizeTokens != row.tokenCount) {
      return;
    }
    int first = cursor.position();
    for (int i = 1; i < entries; i++) {
      cursor.skip();
    }
    int lookahead = cursor.arrayLength();
    appendTokens(row, lookahead);
    row.lookaheadTokens = lookahead;
    cursor.seek(first);
    for (int i = 1; i <= entries; i++) {
      compareLookahead(row, row.tokenFrom + i * row.blockSizeTokens);
    }
  }

  /** Compares the lookahead tokens of a block with the tokens that follow it, from {@code from}. */
  private void compareLookahead(EventRow row, int from) throws WireException {
    int[] tokens = columns.tokens();
    int length = cursor.arrayLength();
    if (length != row.lookaheadTokens) {
      forbidNames(row, Naming.BROKEN_LOOKAHEAD);
    }
    for (int i = 0; i < length; i++) {
      int id = EventRow.narrow(cursor.integer());
      if (i < row.lookaheadTokens && tokens[from + i] != id) {
        forbidNames(row, Naming.BROKEN_LOOKAHEAD);
      }
    }
  }

  private static void forbidNames(EventRow row, Naming reason) {
    if (row.tokenNaming == Naming.DENSE) {
      row.tokenNaming = reason;
    }
  }

  // Extra keys.

  /** Reads the extra keys of a store of so many hashes. */
  BlockKeys keys(int hashes) throws WireException {
    keyNaming = Naming.DENSE;
    String loraName = null;
    String cacheSalt = find(Field.CACHE_SALT) ? cursor.text() : null;
    if (find(Field.LORA_NAME)) {
      if (cursor.nextIsMap()) {
        cacheSalt = saltOfMap(); // SGLang before maps: [..., medium, {"cache_salt": ...}]
      } else {
        loraName = cursor.text();
      }
    }
    if (loraName == null && find(Field.LORA_ID)) {
      keyNaming = Naming.UNNAMED_ADAPTER;
    }
    if (loraName == null && cacheSalt == null && keyNaming == Naming.DENSE && allNil(hashes)) {
      return plainKeys(hashes);
    }
    List<List<ExtraKey>> perBlock = keysOfBlocks(hashes, loraName);
    if (loraName == null && cacheSalt == null && perBlock.isEmpty() && keyNaming == Naming.DENSE) {
      return BlockKeys.NONE;
    }
    return new BlockKeys(loraName, cacheSalt, perBlock, keyNaming);
  }

  /** Whether there is a nil for each hash, as plain text has it. */
  private boolean allNil(int hashes) throws WireException {
    return hashes < MOST_PLAIN
        && find(Field.EXTRA_KEYS)
        && cursor.nextIsArray()
        && cursor.arrayLength() == hashes
        && cursor.skipNils(hashes);
  }

  private BlockKeys plainKeys(int hashes) {
    if (hashes >= plainKeys.length) {
      plainKeys = Arrays.copyOf(plainKeys, Math.min(MOST_PLAIN, 2 * hashes + 1));
    }
    BlockKeys keys = plainKeys[hashes];
    if (keys == null) {
      keys = new BlockKeys(null, null, Collections.nCopies(hashes, List.of()), Naming.DENSE);
      plainKeys[hashes] = keys;
    }
    return keys;
  }

  private @Nullable String saltOfMap() throws WireException {
    String salt = null;
    int length = cursor.mapLength();
    for (int i = 0; i < length; i++) {
      if (!cursor.nextIsText()) {
        cursor.skip();
        cursor.skip();
      } else if (cursor.textAmong(SALT_KEY) != 0) {
        cursor.skip();
      } else if (!cursor.skipNil()) {
        salt = cursor.text();
      }
    }
    return salt;
  }

  private List<List<ExtraKey>> keysOfBlocks(int hashes, @Nullable String loraName)
      throws WireException {
    if (!find(Field.EXTRA_KEYS)) {
      return List.of();
    }
    int blocks = cursor.arrayLength();
    if (blocks != hashes) {
      keyNaming = Naming.UNEVEN;
      return List.of();
    }
    columns.takes((long) PLACE_BYTES * blocks);
    List<List<ExtraKey>> perBlock = new ArrayList<>(blocks);
    for (int i = 0; i < blocks; i++) {
      perBlock.add(cursor.skipNil() ? List.of() : keysOfBlock(loraName));
    }
    return perBlock;
  }

  private List<ExtraKey> keysOfBlock(@Nullable String loraName) throws WireException {
    int length = cursor.arrayLength();
    columns.takes(LIST_BYTES + (long) PLACE_BYTES * length);
    List<ExtraKey> keys = new ArrayList<>(length);
    for (int i = 0; i < length; i++) {
      int start = cursor.position();
      if (cursor.nextIsArray()) {
        keys.add(multimodal());
      } else if (cursor.nextIsBinary()) {
        keys.add(new ExtraKey.PromptEmbeds(HexFormat.of().formatHex(cursor.binary())));
      } else if (cursor.nextIsText()) {
        String text = cursor.text();
        boolean lora = i == 0 && text.equals(loraName);
        keys.add(lora ? new ExtraKey.Lora(text) : new ExtraKey.CacheSalt(text));
      } else {
        keyNaming = Naming.UNKNOWN_KEY;
        cursor.skip();
      }
      columns.takes(KEY_BYTES + 2L * (cursor.position() - start));
    }
    return keys;
  }

  /** An identifier and its offset, or the identifier alone. */
  private ExtraKey multimodal() throws WireException {
    int length = cursor.arrayLength();
    if (length != 1 && length != 2) {
      throw new WireException(cursor.position(), "not a multimodal item");
    }
    String identifier = cursor.text();
    int offset = length == 2 ? cursor.integerWithin(Integer.MIN_VALUE, Integer.MAX_VALUE) : 0;
    return new ExtraKey.Multimodal(identifier, offset);
  }
}
