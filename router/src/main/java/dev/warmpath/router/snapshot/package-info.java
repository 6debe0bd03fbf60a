/** Keeps what the process knows on disk, and begins with what an earlier one has left there. */
@NullMarked
package dev.warmpath.router.snapshot;

import org.jspecify.annotations.NullMarked;
