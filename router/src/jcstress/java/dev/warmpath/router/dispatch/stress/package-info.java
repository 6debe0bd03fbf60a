/** What requests may get that are given out at once, one claim a class. */
@NullMarked
package dev.warmpath.router.dispatch.stress;

import org.jspecify.annotations.NullMarked;
