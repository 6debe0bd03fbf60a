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
 * <p>Start with {@link Metric}. {@link Counters} are the counters of one metric by what tells them
 * apart.
 */
@NullMarked
package dev.warmpath.router.metrics;

import org.jspecify.annotations.NullMarked;
