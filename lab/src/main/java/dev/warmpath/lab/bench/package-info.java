/**
 * What all benches share: processes and what they cost, our router as one of them, percentiles,
 * figures of memory, free ports, where a report goes.
 *
 * <pre>{@code
 * a bench ─▶ ServedRouter ─▶ JavaCommand ─▶ ChildProcess        warmpath serve, in its own process
 * a bench ◀─ ProcFiles: CpuTime, MachineTime                    of other processes, from /proc
 * a bench ◀─ Meters, Percentiles                                of this process
 * }</pre>
 *
 * <p>Start with {@link ServedRouter} for a bench of the whole router, with {@link Meters} for one
 * in this process. {@link BenchOutput} holds the flags for logs and reports.
 */
@NullMarked
package dev.warmpath.lab.bench;

import org.jspecify.annotations.NullMarked;
