package dev.warmpath.eventingest.wire.decode;

import dev.warmpath.eventingest.wire.KvEventBatch;
import dev.warmpath.eventingest.wire.WireException;

/**
 * Decodes payloads to values, for those who look at events rather than apply them: as {@link
 * ColumnDecoder}, with an object for each event.
 *
 * <p>Thread-safe.
 */
public final class KvEventDecoder {

  /** Decodes one payload, which must be one batch and nothing behind it. */
  public KvEventBatch decode(byte[] payload) throws WireException {
    return new ColumnDecoder().decode(payload).batch();
  }
}
