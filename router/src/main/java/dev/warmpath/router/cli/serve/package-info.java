/** Reads the flags of {@code warmpath serve}. */
@NullMarked
package dev.warmpath.router.cli.serve;

import org.jspecify.annotations.NullMarked;
