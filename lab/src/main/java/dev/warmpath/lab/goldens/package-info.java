/** Compares our tokens with a running engine's, request by request. */
@NullMarked
package dev.warmpath.lab.goldens;

import org.jspecify.annotations.NullMarked;
