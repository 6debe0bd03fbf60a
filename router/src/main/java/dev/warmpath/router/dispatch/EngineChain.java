package dev.warmpath.router.dispatch;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.kvindex.block.BlockChain;
import org.jspecify.annotations.Nullable;

/**
 * A prompt's blocks in the space of one engine.
 *
 * <p>Immutable.
 *
 * @param replica the name of the engine's replica
 * @param chain null if the prompt's tokens are not known
 */
public record EngineChain(String replica, EngineView view, @Nullable BlockChain chain) {}
