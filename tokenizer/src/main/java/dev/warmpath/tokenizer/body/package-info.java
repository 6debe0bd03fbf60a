/** How a request's body is read and refused, and what it says besides its prompt. */
@NullMarked
package dev.warmpath.tokenizer.body;

import org.jspecify.annotations.NullMarked;
