package dev.warmpath.eventingest;

import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.kvindex.StorageTier;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A store that several engines write and read, as their events and its own speak of it.
 *
 * @param name of the store
 * @param medium as its readers' events call it; null for all that is slower than their GPUs
 * @param publishes whether it has events of its own: then what its readers say of it is passed over
 * @param keyPrefix what the keys of its objects begin with that are meant
 */
public record StoreRules(
    String name, @Nullable String medium, boolean publishes, String keyPrefix) {

  /** Before the name of a store where engines' names stand; no replica is called so. */
  private static final String MARK = "store:";

  /**
   * Whose objects each rank of a tensor-parallel engine has in MooncakeStore; those of the first
   * one stand for all.
   */
  private static final String RANKS = "@tp_rank:";

  private static final String FIRST_RANKS = "@tp_rank:0@pcp0@dcp0@pp_rank:0";

  /** SGLang's first object of a page: the keys of its first rank, or of all for MLA. */
  private static final Set<String> FIRST_OF_PAGE = Set.of("_0_k", "_0_0_k", "__k");

  private static final String GROUPS = "@group:";
  private static final String FIRST_GROUP = "@group:0";

  /** What stands for the store among the engines. */
  public EngineId id() {
    return new EngineId(MARK + name, 0);
  }

  /** Whether an engine's event speaks of the store. */
  public boolean isMeant(BlockPlace place) {
    return place.tier() != StorageTier.GPU && (medium == null || medium.equals(place.medium()));
  }

  /**
   * Whether an object belongs to a block of these readers.
   *
   * @param owner its key before the hash; null if it is the hash alone
   */
  public boolean isOurs(@Nullable String owner) {
    return owner == null
        ? keyPrefix.isEmpty()
        : owner.startsWith(keyPrefix) && isOfFirstGroup(owner);
  }

  private static boolean isOfFirstGroup(String owner) {
    return !owner.contains(GROUPS) || owner.endsWith(FIRST_GROUP);
  }

  /** Whether such an object shows that the block is there. */
  public boolean showsBlock(@Nullable String owner) {
    if (owner == null) {
      return true;
    }
    int page = owner.indexOf(EventRow.PAGE);
    return page < 0
        ? !owner.contains(RANKS) || owner.contains(FIRST_RANKS)
        : FIRST_OF_PAGE.contains(owner.substring(page + EventRow.PAGE.length()));
  }
}
