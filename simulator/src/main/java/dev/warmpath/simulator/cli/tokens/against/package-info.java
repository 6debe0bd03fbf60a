/** Compares our tokens with a running engine's, request by request. */
@NullMarked
package dev.warmpath.simulator.cli.tokens.against;

import org.jspecify.annotations.NullMarked;
