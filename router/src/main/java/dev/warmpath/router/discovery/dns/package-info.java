/** Replicas that DNS names. */
@NullMarked
package dev.warmpath.router.discovery.dns;

import org.jspecify.annotations.NullMarked;
