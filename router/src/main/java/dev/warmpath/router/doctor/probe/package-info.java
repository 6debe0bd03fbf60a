/** Finds the facts: asks engines, sources of replicas and the machine. */
@NullMarked
package dev.warmpath.router.doctor.probe;

import org.jspecify.annotations.NullMarked;
