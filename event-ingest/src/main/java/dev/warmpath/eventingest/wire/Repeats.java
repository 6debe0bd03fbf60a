package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventReader.Field;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads events that repeat the last one of their kind byte for byte but for their hashes and token
 * ids, as almost all events of one block do.
 *
 * <p>An event with one hash of 8 bytes is kept as a pattern once it has been read field by field.
 * What has the same bytes around its hashes and its ids, and as many of these, means the same.
 *
 * <p>Confined to its decoder.
 */
final class Repeats {

  private static final int LONGEST_BYTES = 1 << 10;

  private final WireCursor cursor;
  private final EventReader reader;
  private final EventColumns columns;
  private @Nullable Pattern removal;
  private @Nullable Pattern store;

  /**
   * An event that was read.
   *
   * @param bytes all of it
   * @param hashAt where in it the 8 bytes of its hash are
   * @param parentAt where those of its parent are; of removals its end
   * @param idsAt where its token ids begin; of removals its end
   * @param idsEnd where they end
   * @param row what it says
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Pattern(
      byte[] bytes, int hashAt, int parentAt, int idsAt, int idsEnd, EventRow row) {}

  Repeats(WireCursor cursor, EventReader reader, EventColumns columns) {
    this.cursor = cursor;
    this.reader = reader;
    this.columns = columns;
  }

  /** Reads the next event if it repeats an earlier one; else the cursor stays. */
  boolean read() {
    int start = cursor.position();
    Pattern removed = removal;
    Pattern stored = store;
    try {
      if ((removed != null && readRemoval(removed, start))
          || (stored != null && readStore(stored, start))) {
        return true;
      }
    } catch (WireException e) {
      // Not ids, or no room: read it field by field, which says what is wrong.
    }
    cursor.seek(start);
    return false;
  }

  /**
   * Keeps the event that was just read from {@code start} to {@code end}, if it can be repeated.
   */
  void keep(EventRow row, int start, int end) throws WireException {
    int hashes = reader.offset(Field.BLOCK_HASHES);
    if (row.hashCount != 1 || end - start > LONGEST_BYTES || !cursor.isLongAt(hashes + 1)) {
      return;
    }
    byte[] bytes = Arrays.copyOfRange(cursor.bytes(), start, end);
    int hashAt = hashes + 2 - start;
    if (row.kind == EventRow.Kind.REMOVED) {
      removal = new Pattern(bytes, hashAt, bytes.length, bytes.length, bytes.length, row.copy());
      return;
    }
    int parent = reader.offset(Field.PARENT_BLOCK_HASH);
    int ids = reader.offset(Field.TOKEN_IDS);
    boolean inOrder = hashes < parent && parent < ids;
    if (inOrder
        && cursor.isLongAt(parent)
        && reader.idsRead() > 0
        && reader.offset(Field.LOOKAHEAD_TOKEN_IDS) < 0) {
      cursor.seek(ids);
      cursor.arrayLength();
      int idsAt = cursor.position() - start;
      cursor.seek(ids);
      cursor.skip();
      store =
          new Pattern(
              bytes, hashAt, parent + 1 - start, idsAt, cursor.position() - start, row.copy());
    }
  }

  private boolean readRemoval(Pattern pattern, int start) throws WireException {
    int length = pattern.bytes.length;
    if (!cursor.hasBytes(length)
        || !same(pattern, start, 0, pattern.hashAt)
        || !same(pattern, start, pattern.hashAt + Long.BYTES, length)) {
      return false;
    }
    EventRow row = columns.next(EventRow.Kind.REMOVED);
    columns.hashesWithRoom(1)[row.hashFrom] = cursor.longAt(start + pattern.hashAt);
    row.hashCount = 1;
    row.place = pattern.row.place;
    row.tier = pattern.row.tier;
    row.windowTokens = pattern.row.windowTokens;
    columns.add(row);
    cursor.seek(start + length);
    return true;
  }

  private boolean readStore(Pattern pattern, int start) throws WireException {
    int behindIds = pattern.bytes.length - pattern.idsEnd;
    if (!cursor.hasBytes(pattern.idsAt + behindIds)
        || !same(pattern, start, 0, pattern.hashAt)
        || !same(pattern, start, pattern.hashAt + Long.BYTES, pattern.parentAt)
        || !same(pattern, start, pattern.parentAt + Long.BYTES, pattern.idsAt)) {
      return false;
    }
    EventRow row = columns.next(EventRow.Kind.STORED);
    int ids = pattern.row.tokenCount;
    cursor.seek(start + pattern.idsAt);
    if (!cursor.integers(columns.tokensWithRoom(ids), row.tokenFrom, row.tokenFrom + ids)
        || !cursor.hasBytes(behindIds)
        || !same(
            pattern, cursor.position() - pattern.idsEnd, pattern.idsEnd, pattern.bytes.length)) {
      return false;
    }
    columns.hashesWithRoom(2)[row.hashFrom] = cursor.longAt(start + pattern.hashAt);
    row.hashCount = 1;
    row.parent = cursor.longAt(start + pattern.parentAt);
    row.saysAs(pattern.row);
    columns.add(row);
    cursor.seek(cursor.position() + behindIds);
    return true;
  }

  /**
   * Whether the bytes of the pattern between these places stand in the payload, if it began there.
   */
  private boolean same(Pattern pattern, int start, int from, int to) {
    return Arrays.equals(pattern.bytes, from, to, cursor.bytes(), start + from, start + to);
  }
}
