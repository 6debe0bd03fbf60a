/** The replicas, their health, and what is known of their engines. */
@NullMarked
package dev.warmpath.router.fleet;

import org.jspecify.annotations.NullMarked;
