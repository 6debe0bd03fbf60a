/**
 * The fleet as an InferencePool: what dashboards and autoscalers of other endpoint pickers read of
 * one.
 */
@NullMarked
package dev.warmpath.router.pool;

import org.jspecify.annotations.NullMarked;
