/** The router's process: everything wired together, started and stopped. */
@NullMarked
package dev.warmpath.router;

import org.jspecify.annotations.NullMarked;
