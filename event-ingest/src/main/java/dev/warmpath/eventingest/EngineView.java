package dev.warmpath.eventingest;

import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import org.jspecify.annotations.Nullable;

/**
 * What a router must know of an engine to ask the index about it; {@link EngineStatus} without what
 * is for people and metrics.
 *
 * <p>Immutable.
 *
 * @param slot the engine's slot in the index, or -1 if it has none
 * @param space the name space of its block keys; null until its events have told
 * @param trust how far the index may be believed for it
 * @param slowTier what it makes of a hit in slower memory
 * @param namespaces how SGLang's hashes show the name space of an {@code extra_key}; null for other
 *     engines
 * @param imageForm how it names images; null if that is not known
 */
public record EngineView(
    int slot,
    @Nullable ChainSpace space,
    Trust trust,
    SlowTierReuse slowTier,
    @Nullable SglangNamespaces namespaces,
    @Nullable ImageForm imageForm) {

  /** An engine that reads any block back from slower memory, and has no {@code extra_key}. */
  public EngineView(int slot, @Nullable ChainSpace space, Trust trust) {
    this(slot, space, trust, SlowTierReuse.ALL, null, null);
  }

  /** The same engine, believed so far. */
  public EngineView with(Trust other) {
    return new EngineView(slot, space, other, slowTier, namespaces, imageForm);
  }

  /** An engine whose events nobody listens to. */
  public static final EngineView UNSEEN = new EngineView(-1, null, Trust.NONE);
}
