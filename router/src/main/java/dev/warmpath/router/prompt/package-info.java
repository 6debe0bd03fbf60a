/** From the bytes of a request to its prompt's tokens, on threads of its own. */
@NullMarked
package dev.warmpath.router.prompt;

import org.jspecify.annotations.NullMarked;
