/** What was found of a fleet: all that the checks judge. */
@NullMarked
package dev.warmpath.router.doctor.facts;

import org.jspecify.annotations.NullMarked;
