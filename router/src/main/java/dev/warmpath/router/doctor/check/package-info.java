/** What a check is, and what it finds. */
@NullMarked
package dev.warmpath.router.doctor.check;

import org.jspecify.annotations.NullMarked;
