package dev.warmpath.eventingest;

/**
 * How full the ring between an engine's sockets and the index is.
 *
 * @param messages that wait, and what answers told of the cache
 * @param bytes that these take
 * @param commands that wait among them: changes of state, which always find room and come at the
 *     rate of connections, replays and looks at the engine, not at that of messages
 * @param maxMessages beyond which live messages are refused, which is counted and asked again
 */
public record RingFill(int messages, long bytes, int commands, int maxMessages) {}
