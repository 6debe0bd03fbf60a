/** The demo: a fleet in one process, the same chats under two policies, and the figures. */
@NullMarked
package dev.warmpath.simulator.demo;

import org.jspecify.annotations.NullMarked;
