package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.EventFields.Field;
import org.jspecify.annotations.Nullable;

/**
 * Reads the located fields of one {@code BlockStored} or {@code BlockRemoved} into columns.
 *
 * <p>Throws {@link WireException} when a needed field is missing or has a wrong type; the columns
 * are then as before.
 *
 * <p>Confined to its decoder.
 */
final class RowReader {

  /** More groups than any engine has; keeps a peer from choosing how much memory they take. */
  private static final int MAX_GROUP_IDX = 1023;

  private final WireCursor cursor;
  private final EventFields fields;
  private final EventColumns columns;
  private final TokenColumnReader tokensReader;
  private final BlockKeysReader keysReader;
  private final InternedPlaces repertoire;

  RowReader(WireCursor cursor, EventFields fields, EventColumns columns) {
    this.cursor = cursor;
    this.fields = fields;
    this.columns = columns;
    tokensReader = new TokenColumnReader(cursor, fields, columns);
    keysReader = new BlockKeysReader(cursor, fields, columns);
    repertoire = new InternedPlaces();
  }

  EventRow blockStored() throws WireException {
    EventRow row = columns.next(EventRow.Kind.STORED);
    hashes(row, 2);
    row.atRoot = !fields.require(Field.PARENT_BLOCK_HASH);
    row.parent = row.atRoot ? 0 : hash();
    tokensReader.read(row);
    row.keys = keysReader.keys(row.hashCount);
    place(row);
    String kind = text(Field.KV_CACHE_SPEC_KIND);
    repertoire.spec(row, kind, number(Field.KV_CACHE_SPEC_SLIDING_WINDOW, Integer.MAX_VALUE));
    columns.add(row);
    return row;
  }

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
    if (!fields.require(Field.BLOCK_HASHES)) {
      throw new WireException(cursor.position(), "nil for block_hashes");
    }
    int count = cursor.arrayLength();
    long[] hashes = columns.hashesWithRoom(places * count);
    for (int i = row.hashFrom; i < row.hashFrom + count; i++) {
      hashes[i] = hash();
    }
    row.hashCount = count;
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
    return fields.find(field) ? cursor.integerWithin(0, most) : 0;
  }

  private @Nullable String text(Field field) throws WireException {
    return fields.find(field) ? repertoire.text(cursor) : null;
  }
}
