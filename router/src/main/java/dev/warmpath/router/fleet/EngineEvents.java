package dev.warmpath.router.fleet;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.ReportedReuse;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.tokenizer.PromptResult;
import dev.warmpath.tokenizer.image.PlacedImages;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the router asks and tells the side of the engines' events: how an engine stands in the
 * index, what its answers say of its cache, and what its health and metrics give away.
 * Implementations are thread-safe, fast and throw nothing: each dispatch asks for every candidate.
 *
 * <p>Thread-safe.
 */
public interface EngineEvents {

  /** For engines without events: every answer is "unknown". */
  EngineEvents NONE = new EngineEvents() {};

  /** What is known now of one engine; {@link EngineView#UNSEEN} for one without events. */
  default EngineView view(Replica replica, int dpRank) {
    return EngineView.UNSEEN;
  }

  /** Whether the engine's next event will be heard. */
  default boolean isConnected(Replica replica, int dpRank) {
    return false;
  }

  /**
   * How often all that an engine held was forgotten or put in doubt at once: by a restart, a reset,
   * or lost events. Only whether it changes says something.
   */
  default long losses(Replica replica, int dpRank) {
    return 0;
  }

  /** The store that the replica's engines read with others; null for none. */
  default @Nullable Store store(Replica replica) {
    return null;
  }

  /** All stores that engines share. */
  default Collection<Store> stores() {
    return List.of();
  }

  /**
   * What a store holds.
   *
   * @param held blocks that are known by name
   * @param named blocks that it was said to hold so far, and that got a name
   * @param nameless the same that did not: they are not credited
   */
  record StoreBlocks(long held, long named, long nameless) {
    public static final StoreBlocks NONE = new StoreBlocks(0, 0, 0);
  }

  /** What a store holds. */
  default StoreBlocks blocks(Store store) {
    return StoreBlocks.NONE;
  }

  /** An engine read a store that publishes what it holds, and said how much of a prompt came. */
  default void reused(Store store, ReportedReuse reuse) {}

  /** An engine said how much of a prompt it reused. */
  default void reused(Replica replica, int dpRank, ReportedReuse reuse) {}

  /**
   * A request is about to be sent there of whose prompt not all is known to be held.
   *
   * @param prompt its blocks, in the engine's space
   * @param tokens what it is made of
   */
  default void dispatching(
      Replica replica, int dpRank, BlockChain prompt, PromptResult.Tokens tokens) {}

  /** A chat with images is about to be sent there. */
  default void sendingImages(Replica replica, int dpRank, PlacedImages images) {}

  /**
   * A chat is about to be sent there that may have images of which nothing is known.
   *
   * @param request by what it is known when it ends
   */
  default void sendingUnread(Replica replica, int dpRank, Object request) {}

  /**
   * Such a chat has ended, or its engine has told what it found.
   *
   * @param request the images of the chat, or what it was sent by
   * @param foundAll whether the engine found all of its images in its cache
   */
  default void endedImages(Replica replica, int dpRank, Object request, boolean foundAll) {}

  /** The replica's engines are the same processes as before. */
  default void unchanged(Replica replica) {}

  /** The replica's engines are other processes than before. */
  default void restarted(Replica replica, String why) {}

  /** The replica answers its health checks again, or for the first time. */
  default void recovered(Replica replica) {}

  /** The replica's engines have run since then, in seconds since 1970; said again and again. */
  default void runsSince(Replica replica, double startSeconds) {}

  /**
   * The GPU of each of the replica's engines has room for so many blocks at most; 0 if the replica
   * does not say.
   */
  default void gpuBlocks(Replica replica, long blocks) {}

  /** The replica's caches are empty, whether or not its events say so yet. */
  default void cleared(Replica replica, String why) {}
}
