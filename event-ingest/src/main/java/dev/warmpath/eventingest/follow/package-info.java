/**
 * Follows a fleet's engines: sockets, streams and the one writer of the index, tied together.
 *
 * <p>Start with {@code EventIngest}: engines come and go there, and what others know of them is
 * told there. {@code FollowedEngine} is one engine with its socket, its ring and its stream; the
 * writer takes from the rings in turn. {@code ReplayBackoff} says when an engine may be asked
 * again, {@code StreamTap} sees what is followed, for captures.
 */
@NullMarked
package dev.warmpath.eventingest.follow;

import org.jspecify.annotations.NullMarked;
