package dev.warmpath.eventingest;

import dev.warmpath.kvindex.block.ChainSpace;
import org.jspecify.annotations.Nullable;

/**
 * What a router needs to know of an engine's event stream for each request; {@link EngineStatus}
 * without what is for people and metrics.
 *
 * @param slot the engine's slot in the index
 * @param space the space of its block keys, null until its first block
 * @param trust how far the index may be believed for it
 * @param slower what it makes of a hit in slower memory
 */
public record EngineStanding(
    int slot, @Nullable ChainSpace space, Trust trust, SlowerHits slower) {}
