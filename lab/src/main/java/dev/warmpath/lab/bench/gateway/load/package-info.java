/** An open loop of chat requests: what is sent, when, and how long answers take. */
@NullMarked
package dev.warmpath.lab.bench.gateway.load;

import org.jspecify.annotations.NullMarked;
