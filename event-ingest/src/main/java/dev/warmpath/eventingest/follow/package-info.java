/**
 * Follows the engines of a fleet: ties their sockets and streams to the one thread that writes the
 * index.
 *
 * <pre>{@code
 * EventSubscriber ─▶ FollowedEngine ─▶ EngineRing ─▶ IndexWriter ─▶ FollowedEngine ─▶ EngineStream
 * socket's thread                      bounded       writer thread, engines in turn
 * }</pre>
 *
 * <p>Start with {@link EventIngest}: engines are added and removed there, and all questions about
 * them are answered there. {@link FollowedEngine} is one engine with its sockets, ring and stream.
 * A full ring drops messages and counts them; the stream then asks for a replay, and if that fails
 * again after a time that {@link ReplayBackoff} sets. {@link LayoutWatch} compares the block
 * layouts of a model's engines. {@link StreamTap} sees everything that is received, for captures.
 */
@NullMarked
package dev.warmpath.eventingest.follow;

import org.jspecify.annotations.NullMarked;
