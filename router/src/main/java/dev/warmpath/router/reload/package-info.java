/** Reads the configuration again while the process runs, and tells what has changed. */
@NullMarked
package dev.warmpath.router.reload;

import org.jspecify.annotations.NullMarked;
