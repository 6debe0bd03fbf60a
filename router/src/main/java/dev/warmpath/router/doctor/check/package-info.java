/** The checks: each judges the facts of a fleet by itself. */
@NullMarked
package dev.warmpath.router.doctor.check;

import org.jspecify.annotations.NullMarked;
