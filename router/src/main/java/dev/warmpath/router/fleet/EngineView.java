package dev.warmpath.router.fleet;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.ChainSpace;
import org.jspecify.annotations.Nullable;

/**
 * What the router must know of an engine to ask the index about it.
 *
 * <p>Immutable.
 *
 * @param slot the engine's slot in the index, or -1 if it has none
 * @param space the name space of its block keys; null until its events have told
 * @param trust how far the index may be believed for it
 * @param loadBackTokens the engine leaves a hit in slower memory alone if that gives fewer tokens
 */
public record EngineView(int slot, @Nullable ChainSpace space, Trust trust, int loadBackTokens) {

  /** An engine that reads any block back from slower memory. */
  public EngineView(int slot, @Nullable ChainSpace space, Trust trust) {
    this(slot, space, trust, 0);
  }

  /** An engine whose events nobody listens to. */
  public static final EngineView UNSEEN = new EngineView(-1, null, Trust.NONE);
}
