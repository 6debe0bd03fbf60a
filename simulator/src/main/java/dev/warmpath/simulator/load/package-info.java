/** Chats with shared system prompts, and the client that drives and measures them. */
@NullMarked
package dev.warmpath.simulator.load;

import org.jspecify.annotations.NullMarked;
