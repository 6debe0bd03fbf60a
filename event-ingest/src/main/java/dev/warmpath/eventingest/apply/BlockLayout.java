package dev.warmpath.eventingest.apply;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.apply.GroupTable.Lesson;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.EventRow.Kind;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How one engine keeps its blocks, learned from its batches: in which groups, and in which space
 * their keys are.
 *
 * <p>Confined to the writer; {@link #space} may be read by any thread.
 */
final class BlockLayout {

  /** What a batch said of it. */
  enum News {
    /** Nothing new. */
    NONE,
    /** More than was known. */
    MORE,
    /** Something else than was known, so what the engine was known to hold is void. */
    VOID
  }

  private final EngineSource source;
  private final GroupTable groups = new GroupTable();
  private volatile @Nullable ChainSpace space;
  private int mainGroup;

  BlockLayout(EngineSource source) {
    this.source = source;
  }

  /** Knows what another one knew. */
  void restore(LearnedCache learned) {
    groups.restore(learned.groups());
    space = learned.space();
    mainGroup = learned.mainGroup();
  }

  void forget() {
    groups.forget();
    space = null;
  }

  GroupTable groups() {
    return groups;
  }

  /** The space of the block keys, or null until a block could be named. */
  @Nullable ChainSpace space() {
    return space;
  }

  /** The group that gave the space its block size. */
  int mainGroup() {
    return mainGroup;
  }

  /** Whether the group that names blocks holds them whatever comes behind. */
  boolean isMainFull() {
    return groups.isFullAttention(mainGroup);
  }

  /** Learns the groups of the whole batch first, so that no hit is judged by some of them. */
  News learn(EventColumns batch) {
    News news = learnGroups(batch);
    ChainSpace before = space;
    if (learnSpace(batch, news == News.VOID)) {
      news = News.VOID;
    } else if (news == News.NONE && !Objects.equals(before, space)) {
      news = News.MORE;
    }
    return news;
  }

  private News learnGroups(EventColumns batch) {
    boolean more = false;
    boolean resized = false;
    for (int i = 0; i < batch.events(); i++) {
      EventRow event = batch.row(i);
      if (event.tier() != StorageTier.GPU || event.kind() == Kind.CLEARED) {
        continue;
      }
      if (!groups.acceptWindow(event.windowTokens())) {
        more |= groups.heardOfWindow();
      } else if (event.kind() == Kind.REMOVED) {
        more |= groups.heardOf(event.place().groupIdx());
      } else if (event.hasTokens() || event.hashCount() == 0) {
        Lesson lesson = groups.learn(event);
        resized |= lesson == Lesson.CHANGED;
        more |= lesson == Lesson.NEW;
      }
    }
    return resized ? News.VOID : more ? News.MORE : News.NONE;
  }

  /** Sets the space from the main group's first dense store; whether an old one became void. */
  private boolean learnSpace(EventColumns batch, boolean resized) {
    CacheGroup main = groups.main();
    if (main == null) {
      return false;
    }
    ChainSpace old = space;
    EventRow said = describingSpace(batch, main);
    boolean stale =
        old != null
            && (resized || mainGroup != main.index() || (said != null && !agree(old, said)));
    if (stale || (old == null && said != null)) {
      space =
          said == null
              ? null
              : new ChainSpace(source.model(), main.blockSizeTokens(), said.lookaheadTokens());
    }
    if (stale || old == null) {
      mainGroup = main.index();
    }
    return stale;
  }

  private static boolean agree(ChainSpace space, EventRow store) {
    return space.blockSizeTokens() == store.blockSizeTokens()
        && space.lookaheadTokens() == store.lookaheadTokens();
  }

  private static @Nullable EventRow describingSpace(EventColumns batch, CacheGroup main) {
    for (int i = 0; i < batch.events(); i++) {
      EventRow event = batch.row(i);
      if (event.kind() == Kind.STORED && describesSpace(event, main)) {
        return event;
      }
    }
    return null;
  }

  private static boolean describesSpace(EventRow store, CacheGroup main) {
    return store.place().groupIdx() == main.index()
        && store.tier() == StorageTier.GPU
        && store.blockSizeTokens() == main.blockSizeTokens()
        && store.hashCount() > 0
        && isDense(store.naming());
  }

  private static boolean isDense(Naming naming) {
    return switch (naming) {
      case DENSE, UNKNOWN_KEY, UNNAMED_ADAPTER -> true;
      default -> false;
    };
  }

  /** What the index has to know of it. */
  CacheLayout layout() {
    ChainSpace current = space;
    int lookaheadTokens = current == null ? 0 : current.lookaheadTokens();
    int withheld =
        source.dialect() == EngineDialect.SGLANG
            ? 1 + lookaheadTokens
            : Math.max(1, lookaheadTokens);
    return new CacheLayout(groups.layout(), withheld, source.rules().droppedBlocks());
  }
}
