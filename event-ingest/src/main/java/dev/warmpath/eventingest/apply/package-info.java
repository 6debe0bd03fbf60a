/** What an engine's decoded events mean, written to the index. */
@NullMarked
package dev.warmpath.eventingest.apply;

import org.jspecify.annotations.NullMarked;
