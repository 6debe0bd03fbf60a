package dev.warmpath.router.fleet;

import dev.warmpath.eventingest.SlowerHits;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.sglang.SglangNamespaces;
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
 * @param slower what it makes of a hit in slower memory
 * @param namespaces how SGLang's hashes show the name space of an {@code extra_key}; null for other
 *     engines
 */
public record EngineView(
    int slot,
    @Nullable ChainSpace space,
    Trust trust,
    SlowerHits slower,
    @Nullable SglangNamespaces namespaces) {

  /** An engine of which no hash shows an {@code extra_key}. */
  public EngineView(int slot, @Nullable ChainSpace space, Trust trust, SlowerHits slower) {
    this(slot, space, trust, slower, null);
  }

  /** An engine that reads any block back from slower memory. */
  public EngineView(int slot, @Nullable ChainSpace space, Trust trust) {
    this(slot, space, trust, SlowerHits.ALL);
  }

  /** An engine whose events nobody listens to. */
  public static final EngineView UNSEEN = new EngineView(-1, null, Trust.NONE);
}
