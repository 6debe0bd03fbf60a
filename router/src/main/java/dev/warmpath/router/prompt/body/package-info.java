/** Parses request bodies, and what a body shares with earlier ones only once. */
@NullMarked
package dev.warmpath.router.prompt.body;

import org.jspecify.annotations.NullMarked;
