/**
 * {@code bench fleet} and {@code bench console}: chats before a fleet of simulated engines, by our
 * policies and by other routers in turn, and what watching the console costs. Start at {@code
 * FleetBench}; a rival is a {@code PeerRouter}.
 */
@NullMarked
package dev.warmpath.lab.fleet;

import org.jspecify.annotations.NullMarked;
