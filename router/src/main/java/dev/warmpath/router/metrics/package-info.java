/**
 * What is measured: every metric's name, labels and meaning ({@link
 * dev.warmpath.router.metrics.Metric}), and the registry that a scrape reads ({@link
 * dev.warmpath.router.metrics.Metrics}). Sees no other room; each room counts here what happens in
 * it, or is asked at a scrape how it stands.
 *
 * <pre>
 *  where it happens ──▶ Micrometer's counter or timer ──┐
 *                                                       ├─▶ Metrics.scrape
 *  how a room stands ──▶ MetricValues, at each scrape ──┘
 * </pre>
 */
@NullMarked
package dev.warmpath.router.metrics;

import org.jspecify.annotations.NullMarked;
