/**
 * Makes the process fast before it is ready: a stub engine, its events, and requests through a
 * router of its own.
 */
@NullMarked
package dev.warmpath.router.warmup;

import org.jspecify.annotations.NullMarked;
