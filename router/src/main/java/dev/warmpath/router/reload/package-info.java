/** Reads the configuration anew while the process runs. */
@NullMarked
package dev.warmpath.router.reload;

import org.jspecify.annotations.NullMarked;
