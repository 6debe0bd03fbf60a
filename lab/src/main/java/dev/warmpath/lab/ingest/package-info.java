/**
 * {@code bench ingest} and {@code bench recovery}: events of simulated engines through ZeroMQ into
 * the index, and a router that is killed and comes back from its snapshot. Start at {@code
 * IngestBench} and {@code RecoveryBench}.
 */
@NullMarked
package dev.warmpath.lab.ingest;

import org.jspecify.annotations.NullMarked;
