/** What the router itself remembers of each engine: load, expected blocks, speed, failures. */
@NullMarked
package dev.warmpath.router.fleet.engine;

import org.jspecify.annotations.NullMarked;
