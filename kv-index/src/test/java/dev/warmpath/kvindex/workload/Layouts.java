package dev.warmpath.kvindex.workload;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import java.util.List;
import java.util.Random;

/**
 * Layouts of engines, from the plain one to those with several groups.
 *
 * <p>Immutable.
 */
public final class Layouts {

  private Layouts() {}

  /** The layout of most engines: full attention, one token is always computed. */
  public static CacheLayout plain(int blockSizeTokens) {
    return layout(1, 0, full(0, blockSizeTokens));
  }

  /** Any layout. */
  static CacheLayout any(Random random, int size) {
    return switch (random.nextInt(12)) {
      case 0 -> layout(0, 0, full(0, size));
      case 1 -> layout(1, 0, full(0, size), window(1, size, 2 * size));
      case 2 -> layout(1, 0, full(0, size), window(1, size, 5 * size + 1), mamba(2, 2 * size));
      case 3 -> layout(0, 0, window(0, size, 70 * size), full(1, size));
      case 4 -> layout(1, 1, full(0, size));
      case 5 -> layout(2, 1, full(0, size), window(1, size, 3 * size));
      case 6 -> layout(0, 0, window(0, size, 2 * size + 1), mamba(1, size));
      case 7 -> layout(1, 2, mamba(0, size));
      case 8 -> layout(1, 0, full(0, 2 * size), full(1, size));
      case 9 -> layout(1, 0, full(0, size), new CacheGroup(1, Kind.UNKNOWN, size, 0));
      case 10 -> layout(1, 0, full(0, size), window(1, 3, 4));
      default -> layout(1, 0);
    };
  }

  /** A layout in a few characters. */
  static String text(CacheLayout layout) {
    StringBuilder text = new StringBuilder();
    for (CacheGroup group : layout.groups()) {
      text.append(group.index()).append(':').append(group.kind()).append(group.blockSizeTokens());
      text.append(group.kind() == Kind.SLIDING_WINDOW ? "/" + group.slidingWindowTokens() : "");
      text.append(' ');
    }
    return text + "withheld " + layout.withheldTokens() + " dropped " + layout.droppedBlocks();
  }

  private static CacheLayout layout(int withheldTokens, int droppedBlocks, CacheGroup... groups) {
    return new CacheLayout(List.of(groups), withheldTokens, droppedBlocks);
  }

  private static CacheGroup full(int index, int blockSizeTokens) {
    return new CacheGroup(index, Kind.FULL_ATTENTION, blockSizeTokens, 0);
  }

  private static CacheGroup window(int index, int blockSizeTokens, int windowTokens) {
    return new CacheGroup(index, Kind.SLIDING_WINDOW, blockSizeTokens, windowTokens);
  }

  private static CacheGroup mamba(int index, int blockSizeTokens) {
    return new CacheGroup(index, Kind.MAMBA, blockSizeTokens, 0);
  }
}
