/** What is known of one engine's cache, and whether that is all. */
@NullMarked
package dev.warmpath.eventingest.knowledge;

import org.jspecify.annotations.NullMarked;
