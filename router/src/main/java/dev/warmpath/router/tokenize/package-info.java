/**
 * The tokenizers of the configured models: how they are loaded and how they stand.
 *
 * <p>Start with {@code LoadedTokenizers}. Their files come from a directory, an {@code engine} or a
 * {@code hub}; {@code parity} compares their tokens with the engines', {@code remote} has engines
 * render what cannot be rendered here.
 */
@NullMarked
package dev.warmpath.router.tokenize;

import org.jspecify.annotations.NullMarked;
