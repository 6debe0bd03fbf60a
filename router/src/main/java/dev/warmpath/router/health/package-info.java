/**
 * Asks the replicas whether they are well, what they serve and how loaded they are.
 *
 * <pre>{@code
 * HealthChecker ─▶ /health                       ─▶ Streak ─▶ up or down ─▶ Replica
 *               ─▶ /v1/models, /kv_event_sources ─▶ ModelCatalog, Replica
 *               ─▶ /metrics ─▶ MetricsPage ─▶ RestartDetector, OtherLoadWatch, LearnedLimit
 * }</pre>
 *
 * <p>Start with {@link HealthChecker}. {@link ModelCatalog} keeps what is served, {@link
 * OtherLoadWatch} the load that others cause, {@link RestartDetector} finds new processes, {@link
 * HealthChecker.LearnedLimit} how many requests a replica takes. After each round {@link
 * FleetWatch} logs what a good health check hides; {@link FleetWatch.TroubleLog} logs each trouble
 * once when it begins and once when it ends.
 */
@NullMarked
package dev.warmpath.router.health;

import org.jspecify.annotations.NullMarked;
