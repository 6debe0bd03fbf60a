package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.EventFields.Field;

/**
 * Reads the tokens of a store in their three forms: plain ids, plain ids with lookahead tokens for
 * each hash (vLLM), and pairs of an id and its successor (SGLang). What is neither forbids names
 * only: which hashes are held is known all the same.
 *
 * <p>Confined to its decoder.
 */
final class TokenColumnReader {

  private static final int MAX_BLOCK_SIZE = 1 << 30;

  private final WireCursor cursor;
  private final EventFields fields;
  private final EventColumns columns;

  TokenColumnReader(WireCursor cursor, EventFields fields, EventColumns columns) {
    this.cursor = cursor;
    this.fields = fields;
    this.columns = columns;
  }

  /** Reads the tokens of a store whose hashes are read. */
  void read(EventRow row) throws WireException {
    row.tokenNaming = Naming.DENSE;
    row.lookaheadTokens = 0;
    row.blockSizeTokens =
        fields.require(Field.BLOCK_SIZE) ? cursor.integerWithin(0, MAX_BLOCK_SIZE) : 0;
    boolean any = fields.require(Field.TOKEN_IDS);
    if (fields.idsRead() >= 0) {
      row.tokenCount = fields.idsRead();
      row.tokenNaming = fields.idsFit() ? Naming.DENSE : Naming.WIDE_TOKENS;
    } else {
      int count = any ? cursor.arrayLength() : 0;
      if (count > 0 && cursor.nextIsArray()) {
        pairs(row, count);
        return;
      }
      append(row, count);
    }
    if (fields.find(Field.LOOKAHEAD_TOKEN_IDS)) {
      int plain = row.tokenCount;
      try {
        lookahead(row);
      } catch (WireException e) { // no list of ids for each hash
        row.tokenCount = plain;
        row.lookaheadTokens = 0;
        forbid(row, Naming.UNEVEN);
      }
    }
  }

  private void append(EventRow row, int count) throws WireException {
    int[] tokens = columns.tokensWithRoom(row.tokenCount + count);
    int from = row.tokenFrom + row.tokenCount;
    if (!cursor.integers(tokens, from, from + count)) {
      forbid(row, Naming.WIDE_TOKENS);
    }
    row.tokenCount += count;
  }

  private void pairs(EventRow row, int count) throws WireException {
    int[] tokens = columns.tokensWithRoom(count + 1);
    int from = row.tokenFrom;
    try {
      for (int i = 0; i < count; i++) {
        if (cursor.arrayLength() != 2) {
          forbid(row, Naming.BROKEN_LOOKAHEAD);
          return;
        }
        int id = id(row);
        int next = id(row);
        if (i > 0 && tokens[from + i] != id) {
          forbid(row, Naming.BROKEN_LOOKAHEAD);
        }
        tokens[from + i] = id;
        tokens[from + i + 1] = next;
        row.tokenCount = i + 2;
        row.lookaheadTokens = 1;
      }
    } catch (WireException e) { // something else than a pair of ids
      forbid(row, Naming.BROKEN_LOOKAHEAD);
    }
  }

  private void lookahead(EventRow row) throws WireException {
    int entries = cursor.arrayLength();
    if (entries != row.hashCount) {
      forbid(row, Naming.UNEVEN);
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
    append(row, lookahead);
    row.lookaheadTokens = lookahead;
    cursor.seek(first);
    for (int i = 1; i <= entries; i++) {
      compareEntry(row, row.tokenFrom + i * row.blockSizeTokens);
    }
  }

  /** Compares the lookahead tokens of a block with the tokens that follow it, from {@code from}. */
  private void compareEntry(EventRow row, int from) throws WireException {
    int[] tokens = columns.tokens();
    int length = cursor.arrayLength();
    if (length != row.lookaheadTokens) {
      forbid(row, Naming.BROKEN_LOOKAHEAD);
    }
    for (int i = 0; i < length; i++) {
      int id = id(row);
      if (i < row.lookaheadTokens && tokens[from + i] != id) {
        forbid(row, Naming.BROKEN_LOOKAHEAD);
      }
    }
  }

  private int id(EventRow row) throws WireException {
    long id = cursor.integer();
    if (id < 0 || id > Integer.MAX_VALUE) {
      forbid(row, Naming.WIDE_TOKENS);
    }
    return (int) id;
  }

  private static void forbid(EventRow row, Naming reason) {
    if (row.tokenNaming == Naming.DENSE) {
      row.tokenNaming = reason;
    }
  }
}
