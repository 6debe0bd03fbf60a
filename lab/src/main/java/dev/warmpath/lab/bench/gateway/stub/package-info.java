/** Replicas with fixed answers, as cheap as can be, to put gateways in front of. */
@NullMarked
package dev.warmpath.lab.bench.gateway.stub;

import org.jspecify.annotations.NullMarked;
