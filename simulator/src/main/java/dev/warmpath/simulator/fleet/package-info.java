/**
 * A fleet in virtual time: the router's own dispatcher, policies and index before simulated
 * engines. One thread, one seed, no clock.
 */
@NullMarked
package dev.warmpath.simulator.fleet;

import org.jspecify.annotations.NullMarked;
