/**
 * The prefixes that engines reused: which saved most tokens, and which a new engine should hold.
 */
@NullMarked
package dev.warmpath.router.fleet.prefix;

import org.jspecify.annotations.NullMarked;
