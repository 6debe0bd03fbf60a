/** Checks of what predictions need: events, blocks, tokens. */
@NullMarked
package dev.warmpath.router.doctor.check.cache;

import org.jspecify.annotations.NullMarked;
