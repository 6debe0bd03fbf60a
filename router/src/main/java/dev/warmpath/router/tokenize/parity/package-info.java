/** Compares the tokens found here with the engines' own, and stops using what differs. */
@NullMarked
package dev.warmpath.router.tokenize.parity;

import org.jspecify.annotations.NullMarked;
