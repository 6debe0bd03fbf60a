/** Checks of the configuration and of the machine. */
@NullMarked
package dev.warmpath.router.doctor.check.router;

import org.jspecify.annotations.NullMarked;
