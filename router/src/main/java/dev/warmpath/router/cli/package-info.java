/** The command line: one class a command, found through {@link java.util.ServiceLoader}. */
@NullMarked
package dev.warmpath.router.cli;

import org.jspecify.annotations.NullMarked;
