/**
 * What bounds the requests that are served at a time: their number, connections, bodies, retries
 * and times.
 */
@NullMarked
package dev.warmpath.router.proxy.limit;

import org.jspecify.annotations.NullMarked;
