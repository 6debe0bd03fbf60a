/** Asking engines how they cut a prompt into tokens. */
@NullMarked
package dev.warmpath.router.tokenize.engine;

import org.jspecify.annotations.NullMarked;
