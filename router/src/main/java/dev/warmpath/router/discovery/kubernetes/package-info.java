/** Replicas that a Kubernetes Service has. */
@NullMarked
package dev.warmpath.router.discovery.kubernetes;

import org.jspecify.annotations.NullMarked;
