package dev.warmpath.router.proxy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.async.ByteArrayFeeder;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Scans a response that is one JSON document, chunk by chunk, without ever having it whole.
 *
 * <p>Confined to its event loop.
 */
final class DocumentScanner extends UsageScanner {

  private final UsageFields fields = new UsageFields();
  private final JsonParser parser;
  private boolean readable = true;
  private boolean begun;

  DocumentScanner() {
    try {
      parser = JSON.createNonBlockingByteArrayParser();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void feed(byte[] chunk) {
    feed(chunk, 0, chunk.length);
  }

  /** Looks at a part of a chunk. */
  void feed(byte[] chunk, int from, int to) {
    begun |= from < to;
    if (!readable || from == to) {
      return;
    }
    try {
      ((ByteArrayFeeder) parser.getNonBlockingInputFeeder()).feedInput(chunk, from, to);
      JsonToken token = parser.nextToken();
      while (token != null && token != JsonToken.NOT_AVAILABLE) {
        fields.accept(token, parser);
        token = parser.nextToken();
      }
    } catch (IOException e) {
      readable = false;
    }
  }

  @Override
  public int contentEvents() {
    return 0;
  }

  @Override
  public int events() {
    return 0;
  }

  @Override
  public boolean hasChoices() {
    return false;
  }

  @Override
  public boolean begun() {
    return begun;
  }

  @Override
  public @Nullable String id() {
    return fields.responseId();
  }

  @Override
  public Usage usage() {
    return fields.usage();
  }

  @Override
  public boolean betweenEvents() {
    return false;
  }
}
