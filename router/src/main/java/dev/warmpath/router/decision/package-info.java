/** The decision log: one line a request, without its text. */
@NullMarked
package dev.warmpath.router.decision;

import org.jspecify.annotations.NullMarked;
