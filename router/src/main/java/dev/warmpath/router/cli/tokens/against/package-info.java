/** Compares our tokens with a running engine's, request by request. */
@NullMarked
package dev.warmpath.router.cli.tokens.against;

import org.jspecify.annotations.NullMarked;
