/** What it costs to turn requests into tokens and block hashes, cold and in growing chats. */
@NullMarked
package dev.warmpath.lab.bench.tokenize;

import org.jspecify.annotations.NullMarked;
