/** What the measurement of gateways found, as numbers, a table and JSON. */
@NullMarked
package dev.warmpath.simulator.bench.gateway.report;

import org.jspecify.annotations.NullMarked;
