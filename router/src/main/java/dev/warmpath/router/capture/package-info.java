/** Records the engines' events, and the requests that they get, in capture files. */
@NullMarked
package dev.warmpath.router.capture;

import org.jspecify.annotations.NullMarked;
