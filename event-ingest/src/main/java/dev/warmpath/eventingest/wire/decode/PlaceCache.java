package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.KvEvent.GroupSpec;
import dev.warmpath.kvindex.StorageTier;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The places and specs that an engine named last, one of each for a group.
 *
 * <p>Confined to its decoder.
 */
final class PlaceCache {

  private static final int GROUPS = 16;

  private final BlockPlace[] places = new BlockPlace[GROUPS];
  private final @Nullable StorageTier[] tiers = new StorageTier[GROUPS];
  private final GroupSpec[] specs = new GroupSpec[GROUPS];

  /** Sets a row's place and tier. */
  void place(EventRow row, String medium, int group, @Nullable String locality) {
    int at = group & (GROUPS - 1);
    BlockPlace last = places[at];
    if (last == null
        || last.groupIdx() != group
        || !last.medium().equals(medium)
        || !Objects.equals(last.locality(), locality)) {
      last = new BlockPlace(medium, group, locality);
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
