package dev.warmpath.eventingest;

/**
 * How full the ring between an engine's sockets and the index is.
 *
 * <p>Immutable.
 *
 * @param messages that wait
 * @param bytes of their payloads
 * @param maxMessages beyond which live messages are refused, which is counted and asked again
 */
public record RingFill(int messages, long bytes, int maxMessages) {}
