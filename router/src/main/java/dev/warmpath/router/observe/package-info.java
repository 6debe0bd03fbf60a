/** What the process tells about itself: its metrics. */
@NullMarked
package dev.warmpath.router.observe;

import org.jspecify.annotations.NullMarked;
