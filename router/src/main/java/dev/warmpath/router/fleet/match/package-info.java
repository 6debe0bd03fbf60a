/** What the index shows of a prompt on each engine. */
@NullMarked
package dev.warmpath.router.fleet.match;

import org.jspecify.annotations.NullMarked;
