package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventReader.Field;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import org.jspecify.annotations.Nullable;

/**
 * Reads the located fields of one {@code BlockStored} or {@code BlockRemoved}.
 *
 * <p>Throws {@link WireException} when a needed field is missing or has a wrong type.
 *
 * <p>Confined to its decoder.
 */
final class ObjectEventReader {

  /** More groups than any engine has; keeps a peer from choosing how much memory they take. */
  private static final int MAX_GROUP_IDX = 1023;

  private final WireCursor cursor;
  private final EventReader fields;
  private final ObjectTokensReader tokensReader;

  ObjectEventReader(WireCursor cursor, EventReader fields) {
    this.cursor = cursor;
    this.fields = fields;
    tokensReader = new ObjectTokensReader(cursor, fields);
  }

  BlockStored blockStored() throws WireException {
    long[] hashes = hashes();
    return new BlockStored(
        hashes,
        fields.require(Field.PARENT_BLOCK_HASH) ? (Long) hash() : null,
        tokensReader.tokens(hashes.length),
        fields.keys(hashes.length),
        place(),
        spec());
  }

  BlockRemoved blockRemoved() throws WireException {
    return new BlockRemoved(hashes(), place());
  }

  private long[] hashes() throws WireException {
    if (!fields.require(Field.BLOCK_HASHES)) {
      throw new WireException(cursor.position(), "nil for block_hashes");
    }
    long[] hashes = new long[cursor.arrayLength()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = hash();
    }
    return hashes;
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

  private BlockPlace place() throws WireException {
    String medium = text(Field.MEDIUM);
    return new BlockPlace(
        medium == null ? BlockPlace.DEFAULT_MEDIUM : medium,
        number(Field.GROUP_IDX, MAX_GROUP_IDX),
        text(Field.LOCALITY),
        text(Field.OWNERSHIP));
  }

  private GroupSpec spec() throws WireException {
    String kind = text(Field.KV_CACHE_SPEC_KIND);
    int window = number(Field.KV_CACHE_SPEC_SLIDING_WINDOW, Integer.MAX_VALUE);
    return kind == null && window == 0 ? GroupSpec.UNSAID : new GroupSpec(kind, window);
  }

  private int number(Field field, int most) throws WireException {
    return fields.find(field) ? cursor.integerWithin(0, most) : 0;
  }

  private @Nullable String text(Field field) throws WireException {
    return fields.find(field) ? cursor.text() : null;
  }
}
