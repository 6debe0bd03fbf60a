/**
 * The router's process: everything wired together, started and stopped.
 *
 * <p>Start with {@code RouterProcess}. {@code Core} is all that decides, without a port: the index,
 * its events, the fleet, tokenizers, the dispatcher. The process adds ports, health, discovery,
 * logs ({@code Recording}) and the console. {@code Environment} holds the clocks, threads and
 * randomness that tests replace. A request's way begins in {@code proxy}.
 */
@NullMarked
package dev.warmpath.router;

import org.jspecify.annotations.NullMarked;
