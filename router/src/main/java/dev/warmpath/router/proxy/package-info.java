/** The way of a request: in from a client, up to a replica, and its response back down. */
@NullMarked
package dev.warmpath.router.proxy;

import org.jspecify.annotations.NullMarked;
