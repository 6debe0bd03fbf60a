/** What the measurement of routers before a fleet found, as numbers, a table and JSON. */
@NullMarked
package dev.warmpath.lab.bench.fleet.report;

import org.jspecify.annotations.NullMarked;
