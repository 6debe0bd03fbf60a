/** Checks of each replica by itself. */
@NullMarked
package dev.warmpath.router.doctor.check.replica;

import org.jspecify.annotations.NullMarked;
