package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The KV-cache groups of one engine, learned from its stores.
 *
 * <p>The main group gives block keys their block size: the first one of full attention, or else the
 * first one whose rule is known. A group that was heard of but never described, and every group
 * below it, is UNKNOWN, which keeps the engine from being credited.
 *
 * <p>Confined to the writer.
 */
final class GroupTable {

  /** What a store says about its group. */
  enum Lesson {
    /** Nothing new. */
    KNOWN,
    /** The layout is another one now. */
    NEW,
    /** A piece of a block: smaller than the group's blocks. */
    PARTIAL,
    /** The group's blocks had another size until now, so what was learned of them is void. */
    CHANGED,
    /** Not to be believed: a block size or group index beyond all measure. */
    REFUSED
  }

  static final int MAX_GROUPS = 64;

  private static final int NO_WINDOW = 0;

  private final TreeMap<Integer, CacheGroup> groups = new TreeMap<>();
  private long described;
  private int highest = -1;
  private @Nullable CacheGroup main;
  private @Nullable CacheGroup last;
  private @Nullable GroupSpec lastSpec;
  private int window = NO_WINDOW;

  /** Learns from a store that describes its group's blocks. */
  Lesson learn(EventRow store) {
    int index = store.place().groupIdx();
    int size = store.blockSizeTokens();
    if (isAsLast(store)) {
      return Lesson.KNOWN;
    }
    heardOf(index);
    if (index >= MAX_GROUPS || size < 1 || size > ChainSpace.MAX_BLOCK_SIZE_TOKENS) {
      return Lesson.REFUSED;
    }
    CacheGroup known = groups.get(index);
    if (known == null) {
      put(group(store));
      return Lesson.NEW;
    }
    if (size == known.blockSizeTokens()) {
      return relearnKind(known, store);
    }
    return isPiece(store, known) ? Lesson.PARTIAL : resize(store);
  }

  /** Notes that the group exists; whether that is news. */
  boolean heardOf(int index) {
    int before = highest;
    highest = Math.max(highest, Math.min(index, MAX_GROUPS));
    return highest > before;
  }

  /** Accepts events of the first attention window that the engine names, or of none. */
  boolean acceptWindow(int windowTokens) {
    if (windowTokens != NO_WINDOW && window == NO_WINDOW) {
      window = windowTokens;
    }
    return windowTokens == NO_WINDOW || windowTokens == window;
  }

  /** There is a group of another window, of which nobody tells what a hit needs of it. */
  boolean heardOfWindow() {
    return heardOf(1);
  }

  /** Whether a store has described the group. */
  boolean describes(int index) {
    return index < MAX_GROUPS && (described >>> index & 1) != 0;
  }

  boolean isFullAttention(int index) {
    CacheGroup group = groups.get(index);
    return group != null && group.kind() == Kind.FULL_ATTENTION;
  }

  /** The group that gives the block keys their size, or null if none is known. */
  @Nullable CacheGroup main() {
    return main;
  }

  private void changed() {
    main = firstNameable();
    last = null;
  }

  private void put(CacheGroup group) {
    groups.put(group.index(), group);
    described |= 1L << group.index();
    changed();
  }

  private @Nullable CacheGroup firstNameable() {
    CacheGroup first = null;
    for (CacheGroup group : groups.values()) {
      if (group.kind() == Kind.FULL_ATTENTION) {
        return group;
      }
      if (first == null && group.kind() != Kind.UNKNOWN) {
        first = group;
      }
    }
    return first;
  }

  /** All groups from index 0 to the highest one heard of. */
  List<CacheGroup> layout() {
    List<CacheGroup> layout = new ArrayList<>();
    for (int index = 0; index <= highest; index++) {
      CacheGroup group = groups.get(index);
      layout.add(group == null ? new CacheGroup(index, Kind.UNKNOWN, 1, 0) : group);
    }
    return layout;
  }

  /** What another table has to know. */
  LearnedCache.Groups learned() {
    return new LearnedCache.Groups(List.copyOf(groups.values()), highest, window);
  }

  /** How many groups a store has described. */
  int count() {
    return groups.size();
  }

  /** Knows what another table knew. */
  void restore(LearnedCache.Groups learned) {
    learned.described().forEach(this::put);
    highest = learned.highest();
    window = learned.windowTokens();
  }

  void forget() {
    groups.clear();
    described = 0;
    highest = -1;
    window = NO_WINDOW;
    changed();
  }

  /** Whether the store says of its group what the last one that taught nothing said. */
  private boolean isAsLast(EventRow store) {
    CacheGroup group = last;
    return group != null
        && group.index() == store.place().groupIdx()
        && group.blockSizeTokens() == store.blockSizeTokens()
        && store.spec().equals(lastSpec);
  }

  private Lesson relearnKind(CacheGroup known, EventRow store) {
    CacheGroup said = group(store);
    if (known.equals(said)) {
      last = known;
      lastSpec = store.spec();
      return Lesson.KNOWN;
    }
    put(said);
    return Lesson.NEW;
  }

  private Lesson resize(EventRow store) {
    put(group(store));
    return Lesson.CHANGED;
  }

  private static boolean isPiece(EventRow store, CacheGroup group) {
    int size = store.blockSizeTokens();
    return store.hashCount() == 1
        && size < group.blockSizeTokens()
        && group.blockSizeTokens() % size == 0;
  }

  private static CacheGroup group(EventRow store) {
    int index = store.place().groupIdx();
    Kind rule = store.spec().rule();
    Kind kind = index > 0 && store.spec().kind() == null ? Kind.UNKNOWN : rule;
    int window = kind == Kind.SLIDING_WINDOW ? store.spec().slidingWindowTokens() : 0;
    return new CacheGroup(index, kind, store.blockSizeTokens(), window);
  }
}
