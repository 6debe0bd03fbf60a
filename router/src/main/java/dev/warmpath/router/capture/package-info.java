/** Records what the router hears of its engines and asks of them, in capture files. */
@NullMarked
package dev.warmpath.router.capture;

import org.jspecify.annotations.NullMarked;
