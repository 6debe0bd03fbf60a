/**
 * Asks the replicas whether they are well and what they serve.
 *
 * <p>Start with {@code HealthChecker}, which asks {@code /health}, {@code /metrics} and {@code
 * /v1/models} of each. {@code ModelCatalog} keeps what is served, {@code OtherLoadWatch} the load
 * that others cause, {@code RestartDetector} sees new processes, {@code FleetWatch} what a good
 * health check hides; {@code TroubleLog} says each trouble once.
 */
@NullMarked
package dev.warmpath.router.health;

import org.jspecify.annotations.NullMarked;
