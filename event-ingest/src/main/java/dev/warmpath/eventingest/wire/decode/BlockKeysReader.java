package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.BlockKeys;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.EventFields.Field;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the extra keys of a store, typed by their shape: an array is a multimodal item, binary a
 * digest of embeddings, a text the adapter if it comes first and equals the event's {@code
 * lora_name}, else a salt.
 *
 * <p>Confined to its decoder.
 */
final class BlockKeysReader {

  private static final WordTable SALT_KEY = new WordTable(List.of("cache_salt"));
  private static final int MOST_PLAIN = 1024;

  /** A list's place in another list, a list and what it holds, and a key without its text. */
  private static final int PLACE_BYTES = 8;

  private static final int LIST_BYTES = 48;
  private static final int KEY_BYTES = 96;

  private final WireCursor cursor;
  private final EventFields fields;
  private final EventColumns columns;
  private BlockKeys[] plain = {};
  private Naming naming = Naming.DENSE;

  /**
   * @param columns whose batch the keys take room of
   */
  BlockKeysReader(WireCursor cursor, EventFields fields, EventColumns columns) {
    this.cursor = cursor;
    this.fields = fields;
    this.columns = columns;
  }

  /** Reads the extra keys of a store of so many hashes. */
  BlockKeys keys(int hashes) throws WireException {
    naming = Naming.DENSE;
    String loraName = null;
    String cacheSalt = fields.find(Field.CACHE_SALT) ? cursor.text() : null;
    if (fields.find(Field.LORA_NAME)) {
      if (cursor.nextIsMap()) {
        cacheSalt = saltOfMap(); // SGLang before maps: [..., medium, {"cache_salt": ...}]
      } else {
        loraName = cursor.text();
      }
    }
    if (loraName == null && fields.find(Field.LORA_ID)) {
      naming = Naming.UNNAMED_ADAPTER;
    }
    if (loraName == null && cacheSalt == null && naming == Naming.DENSE && allNil(hashes)) {
      return plain(hashes);
    }
    List<List<ExtraKey>> perBlock = perBlock(hashes, loraName);
    if (loraName == null && cacheSalt == null && perBlock.isEmpty() && naming == Naming.DENSE) {
      return BlockKeys.NONE;
    }
    return new BlockKeys(loraName, cacheSalt, perBlock, naming);
  }

  /** Whether there is a nil for each hash, as plain text has it. */
  private boolean allNil(int hashes) throws WireException {
    return hashes < MOST_PLAIN
        && fields.find(Field.EXTRA_KEYS)
        && cursor.nextIsArray()
        && cursor.arrayLength() == hashes
        && cursor.skipNils(hashes);
  }

  private BlockKeys plain(int hashes) {
    if (hashes >= plain.length) {
      plain = Arrays.copyOf(plain, Math.min(MOST_PLAIN, 2 * hashes + 1));
    }
    BlockKeys keys = plain[hashes];
    if (keys == null) {
      keys = new BlockKeys(null, null, Collections.nCopies(hashes, List.of()), Naming.DENSE);
      plain[hashes] = keys;
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

  private List<List<ExtraKey>> perBlock(int hashes, @Nullable String loraName)
      throws WireException {
    if (!fields.find(Field.EXTRA_KEYS)) {
      return List.of();
    }
    int blocks = cursor.arrayLength();
    if (blocks != hashes) {
      naming = Naming.UNEVEN;
      return List.of();
    }
    columns.takes((long) PLACE_BYTES * blocks);
    List<List<ExtraKey>> perBlock = new ArrayList<>(blocks);
    for (int i = 0; i < blocks; i++) {
      perBlock.add(cursor.skipNil() ? List.of() : block(loraName));
    }
    return perBlock;
  }

  private List<ExtraKey> block(@Nullable String loraName) throws WireException {
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
        naming = Naming.UNKNOWN_KEY;
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
