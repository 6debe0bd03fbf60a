/** Tokenizer files from Hugging Face's hub: the cache on this machine, and the way into it. */
@NullMarked
package dev.warmpath.router.tokenize.hub;

import org.jspecify.annotations.NullMarked;
