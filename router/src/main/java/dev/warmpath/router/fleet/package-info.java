/**
 * The replicas and their engines: health, load, expected blocks, speed, failures.
 *
 * <pre>{@code
 * Fleet ─▶ Replica ─▶ EngineState, one for each data-parallel rank (EngineTable)
 *                       reserve    what this router sends ─┐
 *                       book       what other routers sent ├▶ EngineLoad, ExpectedBlocks
 *                       end        gives both back         ┘
 *                       fillCandidate ─▶ a row of what policies see
 * }</pre>
 *
 * <p>Start with {@link Fleet}, the list that everybody reads and {@code members.Membership} alone
 * changes, and {@link EngineState}. {@link PrefillModel}, {@link DecodeModel}, {@link AnswerModel}
 * and {@link TransferModel} learn how fast engines are; {@link Ejection} keeps requests from one
 * that fails. {@link EngineEvents} is how the router sees the index's side of an engine. {@link
 * Store} is a store of blocks that several engines share. {@link HotPrefixes} counts what sessions
 * share. {@code dispatch} chooses among engines.
 */
@NullMarked
package dev.warmpath.router.fleet;

import org.jspecify.annotations.NullMarked;
