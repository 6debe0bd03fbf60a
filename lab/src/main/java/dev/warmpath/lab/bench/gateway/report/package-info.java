/** What the measurement of gateways found, as numbers, a table and JSON. */
@NullMarked
package dev.warmpath.lab.bench.gateway.report;

import org.jspecify.annotations.NullMarked;
