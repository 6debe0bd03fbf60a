/**
 * {@code bench ingest}, {@code recovery} and {@code footprint}: events of simulated engines on
 * their way into the index, a router that is killed and comes back, and its memory.
 *
 * <pre>{@code
 * IngestCorpus ─▶ IngestBench.InProcessPass ─▶ one thread, from frames to index
 *              ─▶ ZmqPass                   ─▶ EventIngest over the loopback
 *              ─▶ IngestBench.IngestReport
 * }</pre>
 *
 * <p>Start with {@link IngestBench}. {@link RecoveryBench} kills a router and measures how soon it
 * knows again what its {@link RecoveryEngine}s hold. {@code BenchFootprintCommand.FootprintBench}
 * measures a router's memory part by part.
 */
@NullMarked
package dev.warmpath.lab.ingest;

import org.jspecify.annotations.NullMarked;
