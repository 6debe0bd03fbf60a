/** The tokenizers of the configured models: how they are loaded and how they stand. */
@NullMarked
package dev.warmpath.router.tokenize;

import org.jspecify.annotations.NullMarked;
