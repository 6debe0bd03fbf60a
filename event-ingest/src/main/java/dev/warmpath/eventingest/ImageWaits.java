package dev.warmpath.eventingest;

/**
 * What waits for an engine to store images of chats.
 *
 * @param names that the images may have, while it is not known how the engine names them; at most
 *     4,096
 * @param chats that are under way, or have just ended; at most 1,024
 */
public record ImageWaits(int names, int chats) {}
