package dev.warmpath.router.proxy;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Scans a stream of server-sent events. Only data lines that hold a usage object are parsed; the
 * others are looked through where they lie. The part of a line that ends a chunk is kept for the
 * next one, up to {@link #LINE_LIMIT_BYTES}; a longer data line, such as one that repeats the whole
 * answer, is parsed as it comes and not kept.
 *
 * <p>Confined to its event loop.
 */
final class SseUsageScanner extends UsageScanner {

  static final int LINE_LIMIT_BYTES = 1 << 16;

  private static final byte[] DATA = "data:".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] DONE = "data: [DONE]".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] EVENT = "event:".getBytes(StandardCharsets.US_ASCII);

  /** Events that may come before the prompt is computed. */
  static final Set<String> OPENING =
      Set.of(
          "response.created", "response.queued", "response.in_progress", "message_start", "ping");

  private static final byte[] KEY = "\"usage\"".getBytes(StandardCharsets.US_ASCII);

  private static final byte[] INDEX = "\"index\":".getBytes(StandardCharsets.US_ASCII);

  private Usage usage = Usage.NONE;
  private @Nullable String id;
  private byte[] started = new byte[0];
  private @Nullable DocumentScanner longLine;
  private boolean betweenEvents = true;
  private boolean opening;
  private int contentEvents;
  private int events;
  private boolean begun;
  private boolean hasChoices;
  private boolean hasData;

  @Override
  public void feed(byte[] chunk) {
    int from = 0;
    for (int at = 0; at < chunk.length; at++) {
      if (chunk[at] == '\n') {
        lineEnds(chunk, from, at);
        from = at + 1;
      }
    }
    if (from < chunk.length) {
      betweenEvents = false;
      keep(chunk, from, chunk.length);
      begun |= longLine != null || (started[0] != ':' && started[0] != '\r');
    }
  }

  @Override
  public int contentEvents() {
    return contentEvents;
  }

  @Override
  public int events() {
    return events;
  }

  @Override
  public boolean hasChoices() {
    return hasChoices;
  }

  @Override
  public boolean begun() {
    return begun;
  }

  @Override
  public @Nullable String id() {
    return id;
  }

  @Override
  public Usage usage() {
    return usage;
  }

  @Override
  public boolean betweenEvents() {
    return betweenEvents;
  }

  private void lineEnds(byte[] chunk, int from, int to) {
    if (started.length == 0 && longLine == null && to - from <= LINE_LIMIT_BYTES) {
      line(chunk, from, to);
      return;
    }
    keep(chunk, from, to);
    if (longLine == null) {
      line(started, 0, started.length);
    } else {
      betweenEvents = false;
      begun = true;
      hasData = true;
      contentEvents += opening ? 0 : 1;
      adopt(longLine.usage(), longLine.id());
    }
    started = new byte[0];
    longLine = null;
  }

  private void keep(byte[] chunk, int from, int to) {
    if (longLine != null) {
      longLine.feed(chunk, from, to);
      return;
    }
    int had = started.length;
    started = Arrays.copyOf(started, had + to - from);
    System.arraycopy(chunk, from, started, had, to - from);
    if (started.length > LINE_LIMIT_BYTES) {
      longLine = new DocumentScanner();
      int begin = isAt(DATA, started, 0, started.length) ? DATA.length : 0;
      longLine.feed(started, begin, started.length);
      started = new byte[0];
    }
  }

  private void line(byte[] bytes, int from, int to) {
    boolean empty = to == from || (to == from + 1 && bytes[from] == '\r');
    betweenEvents = empty;
    begun |= !empty && bytes[from] != ':';
    if (empty) {
      opening = false;
      events += hasData ? 1 : 0;
      hasData = false;
    } else if (isAt(DATA, bytes, from, to)) {
      hasData = true;
      hasChoices = hasChoices || hasLaterIndex(bytes, from + DATA.length, to);
      if (holdsUsage(bytes, from + DATA.length, to)) {
        parse(bytes, from + DATA.length, to);
      }
      contentEvents += opening || isAt(DONE, bytes, from, to) ? 0 : 1;
    } else if (contentEvents == 0 && isAt(EVENT, bytes, from, to)) {
      int begin = from + EVENT.length;
      String name = new String(bytes, begin, to - begin, StandardCharsets.UTF_8);
      opening = OPENING.contains(name.strip());
    }
  }

  private static boolean holdsUsage(byte[] bytes, int from, int to) {
    for (int at = from; at <= to - KEY.length; at++) {
      if (bytes[at] == '"' && isAt(KEY, bytes, at, to)) {
        return true;
      }
    }
    return false;
  }

  private static boolean hasLaterIndex(byte[] bytes, int from, int to) {
    for (int at = from; at < to - INDEX.length; at++) {
      if (bytes[at] == '"' && bytes[at + 1] == 'i' && isAt(INDEX, bytes, at, to)) {
        int value = at + INDEX.length;
        value += bytes[value] == ' ' && value + 1 < to ? 1 : 0;
        if (bytes[value] >= '1' && bytes[value] <= '9') {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean isAt(byte[] wanted, byte[] bytes, int at, int to) {
    return at + wanted.length <= to
        && Arrays.equals(wanted, 0, wanted.length, bytes, at, at + wanted.length);
  }

  private void parse(byte[] bytes, int from, int to) {
    UsageFields fields = new UsageFields();
    try (JsonParser parser = JSON.createParser(bytes, from, to - from)) {
      for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
        fields.accept(token, parser);
      }
    } catch (IOException e) {
      return;
    }
    adopt(fields.usage(), fields.responseId());
  }

  private void adopt(Usage found, @Nullable String foundId) {
    usage = usage.then(found);
    id = foundId == null ? id : foundId;
  }
}
