/** Asks the replicas whether they are well and what they serve. */
@NullMarked
package dev.warmpath.router.health;

import org.jspecify.annotations.NullMarked;
