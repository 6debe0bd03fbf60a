/**
 * The admin port: its endpoints, and the console with the last hour in numbers, the last decisions
 * and the hottest prefixes.
 *
 * <pre>{@code
 * HTTP ─▶ AdminVerticle (AdminGuard: who may) ─▶ FleetReport, ExplainReport, ReplicaEndpoints, …
 *                                             ─▶ ConsoleEndpoints, ConsoleStream ─▶ Console
 * metrics ─▶ Totals ─▶ Reading ─▶ Step ─▶ History ─┐
 * ended requests ─▶ RecentDecisions, HotPrefixes ──┴▶ Console
 * }</pre>
 *
 * <p>Start with {@link AdminVerticle} for what is answered, {@link Console} for what is remembered.
 * {@link AdminContext} is all that the endpoints may look at or set going. Each {@code …Report}
 * writes one answer; {@link ExplainReport} says why a request went where it did, beside what would
 * be chosen today. The page itself is {@link ConsolePage}, without data.
 */
@NullMarked
package dev.warmpath.router.console;

import org.jspecify.annotations.NullMarked;
