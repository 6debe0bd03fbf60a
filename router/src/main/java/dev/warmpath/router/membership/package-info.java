/**
 * Owns the fleet: adds, drains and removes replicas as the configuration, the admin API and
 * discovery name them.
 */
@NullMarked
package dev.warmpath.router.membership;

import org.jspecify.annotations.NullMarked;
