/** How replicas are reached: addresses, TLS, and the router's own credentials. */
@NullMarked
package dev.warmpath.router.upstream;

import org.jspecify.annotations.NullMarked;
