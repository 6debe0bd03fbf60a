/** Names of blocks that are computed because nobody tells of them any more. */
@NullMarked
package dev.warmpath.eventingest.hashing;

import org.jspecify.annotations.NullMarked;
