/** Examines a fleet before a router serves it, and tells what to change. */
@NullMarked
package dev.warmpath.router.doctor;

import org.jspecify.annotations.NullMarked;
