/**
 * What the router itself remembers of each engine: load, expected blocks, speed, failures.
 *
 * <p>Start with {@code EngineState}, one for each engine, which ties the rest together; {@code
 * EngineTable} has them all. {@code EngineLoad} and {@code ExpectedBlocks} are reserved by a {@code
 * Reservation} and given back by its end, {@code Prefill…} learns how fast an engine computes,
 * {@code Ejection} how often it failed, {@code EngineMeters} counts.
 */
@NullMarked
package dev.warmpath.router.fleet.engine;

import org.jspecify.annotations.NullMarked;
