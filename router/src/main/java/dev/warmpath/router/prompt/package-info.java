/**
 * From the bytes of a request to its prompt's tokens, on threads of its own. A prompt that cannot
 * be known here is no error: its request is routed by load, and the engine answers it.
 */
@NullMarked
package dev.warmpath.router.prompt;

import org.jspecify.annotations.NullMarked;
