/** Has engines render what cannot be rendered here. */
@NullMarked
package dev.warmpath.router.tokenize.remote;

import org.jspecify.annotations.NullMarked;
