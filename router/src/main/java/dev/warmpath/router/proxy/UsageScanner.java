package dev.warmpath.router.proxy;

import com.fasterxml.jackson.core.JsonFactory;
import org.jspecify.annotations.Nullable;

/**
 * Watches the bytes of one response for its usage report. It never changes, delays or keeps them
 * beyond a bound; a response that is not what its type says reports nothing. How the bytes are cut
 * into chunks makes no difference.
 *
 * <p>Confined to its event loop.
 */
public abstract sealed class UsageScanner permits DocumentScanner, SseUsageScanner {

  static final JsonFactory JSON = new JsonFactory();

  /** The scanner for a response of this content type. */
  public static UsageScanner of(String contentType) {
    return contentType.startsWith("text/event-stream")
        ? new SseUsageScanner()
        : new DocumentScanner();
  }

  /** Looks at the next bytes, which are not kept. */
  public abstract void feed(byte[] chunk);

  /**
   * How many events of a stream brought something of the answer: about as many as it has tokens, if
   * the engine sends one event for each. A single document has none: it comes when all is computed.
   */
  public abstract int contentEvents();

  /** How many events a stream brought; 0 for a single document. */
  public abstract int events();

  /** Whether a stream brings several choices, or may: an event has an index other than 0. */
  public abstract boolean hasChoices();

  /** Whether anything came but comments, which an engine sends while it computes. */
  public abstract boolean begun();

  /** The id of the answer, as far as that was looked for; null if it has none. */
  public abstract @Nullable String id();

  /** What the response said so far. */
  public abstract Usage usage();

  /** Whether all bytes so far end where an event may begin. */
  public abstract boolean betweenEvents();
}
