/** Asks engines and the machine for the facts that the checks judge. */
@NullMarked
package dev.warmpath.router.doctor.probe;

import org.jspecify.annotations.NullMarked;
