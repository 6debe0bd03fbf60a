package dev.warmpath.eventingest;

/**
 * What waits for an engine to store images of chats.
 *
 * @param names that the images may have, while it is not known how the engine names them; at most
 *     4,096
 * @param chats that are under way, or have just ended; at most 1,024
 * @param unread chats under way of whose images nothing is known; at most 1,024, for a moment twice
 *     as many
 * @param bytes that the chats take, about; at most 4 MiB, but for a single one
 */
public record ImageWaits(int names, int chats, int unread, long bytes) {

  public static final ImageWaits NOTHING = new ImageWaits(0, 0, 0, 0);
}
