/** The last hour in numbers, read from the metrics of requests. */
@NullMarked
package dev.warmpath.router.console.history;

import org.jspecify.annotations.NullMarked;
