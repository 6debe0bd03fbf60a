/**
 * How a request's body is read, and why its prompt may not be known: its request is routed by load.
 */
@NullMarked
package dev.warmpath.tokenizer.body;

import org.jspecify.annotations.NullMarked;
