package dev.warmpath.eventingest.follow;

/**
 * The bounds of what waits between sockets and index.
 *
 * @param messages of one engine
 * @param bytes of one engine's payloads, and of one message
 * @param totalBytes of all engines' payloads; an engine that holds less than its share of these
 *     finds room all the same, so all together stay below twice as many
 */
public record RingLimits(int messages, long bytes, long totalBytes) {

  /** What a router uses. */
  public static final RingLimits DEFAULT = new RingLimits(4_096, 16L << 20, 256L << 20);

  public RingLimits {
    if (messages < 2 || bytes < 1 || totalBytes < 1) {
      throw new IllegalArgumentException(
          "messages=%d bytes=%d totalBytes=%d".formatted(messages, bytes, totalBytes));
    }
  }
}
