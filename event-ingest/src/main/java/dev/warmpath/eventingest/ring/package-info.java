/** What waits between the threads that hear engines and the one that writes the index. */
@NullMarked
package dev.warmpath.eventingest.ring;

import org.jspecify.annotations.NullMarked;
