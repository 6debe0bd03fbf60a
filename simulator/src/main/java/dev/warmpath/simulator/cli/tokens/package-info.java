/** What {@code warmpath tokenize} shows and checks. */
@NullMarked
package dev.warmpath.simulator.cli.tokens;

import org.jspecify.annotations.NullMarked;
