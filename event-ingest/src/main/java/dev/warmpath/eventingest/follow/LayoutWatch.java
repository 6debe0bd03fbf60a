package dev.warmpath.eventingest.follow;

import dev.warmpath.kvindex.block.ChainSpace;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks whether the engines of one model cut prompts into the same blocks. Where they do not, a
 * prefix that one has is another prefix for the others, and nothing is shared: somebody has started
 * them with different flags.
 *
 * <p>Confined to the writer.
 */
final class LayoutWatch {

  private static final Logger LOG = LoggerFactory.getLogger(LayoutWatch.class);

  /** An engine whose model nobody knows may well have another one. */
  private static final String ANY_MODEL = "";

  /** Tells each engine how it differs from others of its model, or that it does not. */
  void look(Collection<FollowedEngine> engines) {
    Map<String, List<FollowedEngine>> byModel = new TreeMap<>();
    for (FollowedEngine engine : engines) {
      ChainSpace space = engine.view().space();
      if (space != null && !space.model().equals(ANY_MODEL)) {
        byModel.computeIfAbsent(space.model(), model -> new ArrayList<>()).add(engine);
      }
    }
    byModel.values().forEach(LayoutWatch::compare);
  }

  private static void compare(List<FollowedEngine> engines) {
    FollowedEngine first = engines.get(0);
    FollowedEngine unlike = firstUnlike(first, engines);
    for (FollowedEngine engine : engines) {
      FollowedEngine other = isUnlike(engine, first) ? first : unlike;
      String mismatch = other != null && isUnlike(engine, other) ? describe(engine, other) : null;
      if (mismatch != null && engine.layoutMismatch() == null) {
        LOG.warn("engine={} layout mismatch: {}", engine.id(), mismatch);
      }
      engine.layoutMismatch(mismatch);
    }
  }

  private static @Nullable FollowedEngine firstUnlike(
      FollowedEngine engine, List<FollowedEngine> engines) {
    for (FollowedEngine other : engines) {
      if (isUnlike(engine, other)) {
        return other;
      }
    }
    return null;
  }

  private static boolean isUnlike(FollowedEngine one, FollowedEngine other) {
    return !Objects.equals(one.view().space(), other.view().space());
  }

  private static String describe(FollowedEngine engine, FollowedEngine other) {
    return said(engine) + ", but " + said(other) + " on " + other.id();
  }

  private static String said(FollowedEngine engine) {
    ChainSpace space = engine.view().space();
    if (space == null) {
      return "nothing known";
    }
    String lookahead =
        space.lookaheadTokens() == 0 ? "" : " and " + space.lookaheadTokens() + " ahead";
    return space.blockSizeTokens() + " tokens a block" + lookahead;
  }
}
