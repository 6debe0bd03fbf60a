/** The metrics of the process. */
@NullMarked
package dev.warmpath.router.observe;

import org.jspecify.annotations.NullMarked;
