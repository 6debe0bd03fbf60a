/** Hosts and addresses that replicas may have. */
@NullMarked
package dev.warmpath.router.host;

import org.jspecify.annotations.NullMarked;
