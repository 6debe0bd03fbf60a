/** Finds replicas that come and go: in a file, by DNS, in Kubernetes. */
@NullMarked
package dev.warmpath.router.discovery;

import org.jspecify.annotations.NullMarked;
