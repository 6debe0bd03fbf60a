package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventReader.Field;
import java.util.Arrays;

/**
 * Reads the tokens of a store in their three forms: plain ids, plain ids with lookahead tokens for
 * each hash (vLLM), and pairs of an id and its successor (SGLang).
 *
 * <p>Confined to its decoder.
 */
final class ObjectTokensReader {

  private static final int MAX_BLOCK_SIZE = 1 << 30;

  private final WireCursor cursor;
  private final EventReader fields;
  private Naming naming = Naming.DENSE;

  ObjectTokensReader(WireCursor cursor, EventReader fields) {
    this.cursor = cursor;
    this.fields = fields;
  }

  /** Reads the tokens of a store of so many hashes. */
  BlockTokens tokens(int hashes) throws WireException {
    naming = Naming.DENSE;
    int blockSize = fields.require(Field.BLOCK_SIZE) ? cursor.integerWithin(0, MAX_BLOCK_SIZE) : 0;
    int count = fields.require(Field.TOKEN_IDS) ? cursor.arrayLength() : 0;
    if (count > 0 && cursor.nextIsArray()) {
      return pairs(count, blockSize);
    }
    int[] ids = ids(new int[count], 0);
    if (!fields.find(Field.LOOKAHEAD_TOKEN_IDS)) {
      return new BlockTokens(ids, blockSize, 0, naming);
    }
    try {
      return withLookahead(ids, blockSize, hashes);
    } catch (WireException e) {
      forbid(Naming.UNEVEN);
      return new BlockTokens(ids, blockSize, 0, naming);
    }
  }

  private BlockTokens pairs(int count, int blockSize) throws WireException {
    int[] ids = new int[count + 1];
    int read = 0;
    try {
      for (; read < count; read++) {
        if (cursor.arrayLength() != 2) {
          forbid(Naming.BROKEN_LOOKAHEAD);
          break;
        }
        int id = EventRow.narrow(cursor.integer());
        int next = EventRow.narrow(cursor.integer());
        if (read > 0 && ids[read] != id) {
          forbid(Naming.BROKEN_LOOKAHEAD);
        }
        ids[read] = id;
        ids[read + 1] = next;
      }
    } catch (WireException e) {
      forbid(Naming.BROKEN_LOOKAHEAD);
    }
    int[] known = Arrays.copyOf(ids, read == 0 ? 0 : read + 1);
    return new BlockTokens(known, blockSize, read == 0 ? 0 : 1, naming);
  }

  private BlockTokens withLookahead(int[] ids, int blockSize, int hashes) throws WireException {
    int entries = cursor.arrayLength();
    if (entries != hashes) {
      forbid(Naming.UNEVEN);
    }
    if (entries == 0 || naming != Naming.DENSE || (long) hashes * blockSize != ids.length) {
      return new BlockTokens(ids, blockSize, 0, naming);
    }
    int first = cursor.position();
    for (int i = 1; i < entries; i++) {
      cursor.skip();
    }
    int lookahead = cursor.arrayLength();
    int[] extended = ids(Arrays.copyOf(ids, ids.length + lookahead), ids.length);
    cursor.seek(first);
    for (int i = 1; i <= entries; i++) {
      compareEntry(extended, i * blockSize, lookahead);
    }
    return new BlockTokens(extended, blockSize, lookahead, naming);
  }

  /** Compares the lookahead tokens of a block with the tokens that follow it, from {@code from}. */
  private void compareEntry(int[] ids, int from, int lookahead) throws WireException {
    int length = cursor.arrayLength();
    if (length != lookahead) {
      forbid(Naming.BROKEN_LOOKAHEAD);
    }
    for (int i = 0; i < length; i++) {
      int id = EventRow.narrow(cursor.integer());
      if (i < lookahead && ids[from + i] != id) {
        forbid(Naming.BROKEN_LOOKAHEAD);
      }
    }
  }

  private int[] ids(int[] ids, int from) throws WireException {
    int start = cursor.position();
    if (!cursor.integers(ids, from, ids.length)) {
      cursor.seek(start);
      for (int i = from; i < ids.length; i++) {
        ids[i] = EventRow.narrow(cursor.integer());
      }
    }
    return ids;
  }

  private void forbid(Naming reason) {
    if (naming == Naming.DENSE) {
      naming = reason;
    }
  }
}
