/**
 * {@code bench index} and {@code bench churn}: what the index costs. A corpus (events and queries)
 * is read from a WPIX file or recorded from caches of simulated engines ({@code Corpora}); passes
 * play it to an index and compare every answer. Start at {@code IndexBench}; for engines that come
 * and go at {@code ChurnBench}.
 */
@NullMarked
package dev.warmpath.lab.index;

import org.jspecify.annotations.NullMarked;
