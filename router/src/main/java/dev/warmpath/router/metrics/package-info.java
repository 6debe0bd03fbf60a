/**
 * What is measured: every metric's name, labels and meaning ({@link Metric}), and the registry that
 * a scrape reads ({@link Metrics}). It depends on no other package of the router; each counts here
 * what happens in it, or is asked at a scrape how it stands.
 *
 * <pre>{@code
 * where it happens     ─▶ Micrometer's counter or timer ─┐
 *                                                        ├─▶ Metrics.scrape
 * how a package stands ─▶ MetricValues, at each scrape ──┘
 * }</pre>
 *
 * <p>Start with {@link Metric}, and look for uses of a constant to find who counts. The hit rate,
 * for one, is {@code CACHED_TOKENS_TOTAL} of {@code PROMPT_TOKENS_TOTAL}, both counted in {@code
 * fleet.EngineMeters} when {@code proxy.AnswerWatch} has read what an engine reports. {@link
 * Counters} are the counters of one metric by what tells them apart.
 */
@NullMarked
package dev.warmpath.router.metrics;

import org.jspecify.annotations.NullMarked;
