/** What a request's body says besides its prompt, found without reading the prompt. */
@NullMarked
package dev.warmpath.tokenizer.body;

import org.jspecify.annotations.NullMarked;
