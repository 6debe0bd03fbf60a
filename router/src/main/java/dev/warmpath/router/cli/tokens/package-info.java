/** What {@code warmpath tokenize} shows and checks. */
@NullMarked
package dev.warmpath.router.cli.tokens;

import org.jspecify.annotations.NullMarked;
