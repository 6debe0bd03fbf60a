/**
 * The fast index: runs of blocks in flat arrays, one writer, readers that never wait.
 *
 * <pre>{@code
 * write  RunKvIndex ─▶ RunEngine ─▶ Placement ─▶ Runs (the tree), Holdings (who holds it)
 *                          └─▶ Claims ─▶ UnnamedBlocks: blocks whose parent is unknown
 * read   RunKvIndex.match ─▶ PathReader (ReadView, Walk) ─▶ PrefixMatches
 * room   Room ─▶ ClockEviction, SlabMover; all arrays count in one ByteBudget
 * }</pre>
 *
 * <p>Start with {@link RunKvIndex}; the comment at its top draws the layout and states the
 * invariants. Then read {@link RunEngine} for what an event means, {@link PathReader} for how
 * readers run beside the writer, and {@link HashTable} for the way from an engine hash to its
 * blocks. {@link SuspendedBlocks} are held but not credited. Snapshots are {@link EngineSections}
 * and {@link TreeSections}.
 */
@NullMarked
package dev.warmpath.kvindex.runs;

import org.jspecify.annotations.NullMarked;
