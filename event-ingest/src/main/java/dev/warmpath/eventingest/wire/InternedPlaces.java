package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.kvindex.StorageTier;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What an engine says again and again, as the same objects: short texts, and the place and spec
 * that it named last for each group.
 *
 * <p>Confined to its decoder.
 */
final class InternedPlaces {

  private static final int GROUPS = 16;
  private static final int TEXTS = 16;
  private static final int LONGEST_BYTES = 64;

  private final BlockPlace[] places = new BlockPlace[GROUPS];
  private final @Nullable StorageTier[] tiers = new StorageTier[GROUPS];
  private final GroupSpec[] specs = new GroupSpec[GROUPS];

  private final byte[][] keys = new byte[TEXTS][];
  private final String[] texts = new String[TEXTS];

  /** Reads a text. */
  String text(WireCursor cursor) throws WireException {
    int length = cursor.textLength();
    int from = cursor.position();
    byte[] bytes = cursor.bytes();
    if (length == 0 || length > LONGEST_BYTES) {
      return cursor.text(length);
    }
    int place = (length * 7 + bytes[from + length - 1]) & (TEXTS - 1);
    byte[] key = keys[place];
    if (key != null && Arrays.equals(key, 0, key.length, bytes, from, from + length)) {
      cursor.seek(from + length);
      return texts[place];
    }
    String text = cursor.text(length);
    keys[place] = Arrays.copyOfRange(bytes, from, from + length);
    texts[place] = text;
    return text;
  }

  /** Sets a row's place and tier. */
  void place(
      EventRow row,
      String medium,
      int group,
      @Nullable String locality,
      @Nullable String ownership) {
    int at = group & (GROUPS - 1);
    BlockPlace last = places[at];
    if (last == null
        || last.groupIdx() != group
        || !last.medium().equals(medium)
        || !Objects.equals(last.locality(), locality)
        || !Objects.equals(last.ownership(), ownership)) {
      last = new BlockPlace(medium, group, locality, ownership);
      places[at] = last;
      tiers[at] = last.tier();
    }
    row.place = last;
    row.tier = tiers[at];
  }

  /** Sets the spec of a row that has a place. */
  void spec(EventRow row, @Nullable String kind, int window) {
    int at = row.place.groupIdx() & (GROUPS - 1);
    GroupSpec last = specs[at];
    if (kind == null && window == 0) {
      last = GroupSpec.UNSAID;
    } else if (last == null
        || last.slidingWindowTokens() != window
        || !Objects.equals(last.kind(), kind)) {
      last = new GroupSpec(kind, window);
      specs[at] = last;
    }
    row.spec = last;
  }
}
