package dev.warmpath.eventingest.capture;

import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import java.math.BigInteger;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The shape of a capture file's values: header and records to plain values and back.
 *
 * <p>A value of another shape is an {@link IllegalArgumentException} that says what was expected.
 */
final class CaptureFormat {

  private CaptureFormat() {}

  static CaptureHeader header(@Nullable Object value) {
    Map<String, @Nullable Object> map = map(value, "the header");
    if (!CaptureHeader.FORMAT.equals(map.get("format"))) {
      throw new IllegalArgumentException("not a " + CaptureHeader.FORMAT);
    }
    if (number(map.get("version"), "version") != CaptureHeader.VERSION) {
      throw new IllegalArgumentException("version " + map.get("version") + " is not known");
    }
    List<CaptureStream> streams =
        list(map.get("streams"), "streams").stream().map(CaptureFormat::stream).toList();
    return new CaptureHeader(textOr(map, "created"), textOr(map, "note"), streams, map);
  }

  static Map<String, @Nullable Object> plain(CaptureHeader header) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("format", CaptureHeader.FORMAT);
    map.put("version", CaptureHeader.VERSION);
    map.put("created", header.created());
    map.put("note", header.note());
    map.put("streams", header.streams().stream().map(CaptureFormat::plain).toList());
    header.fields().forEach(map::putIfAbsent);
    return map;
  }

  /** The record, or null when its kind is not known. */
  static @Nullable CaptureRecord record(@Nullable Object value) {
    Fields fields = new Fields(list(value, "a record"));
    return switch (fields.text(0, "kind")) {
      case "events" ->
          new Events(
              fields.time(),
              fields.stream(),
              fields.bytes(3, "topic"),
              fields.number(4, "seq"),
              fields.bytes(5, "payload"));
      case "replay" ->
          new Replay(
              fields.time(), fields.stream(), fields.number(3, "start_seq"), fields.replies(4));
      case "request" ->
          new Request(
              fields.time(), fields.stream(), fields.text(3, "request_id"), fields.map(4, "body"));
      case "response" ->
          new Response(
              fields.time(),
              fields.stream(),
              fields.text(3, "request_id"),
              fields.map(4, "result"));
      case "mark" ->
          new Mark(fields.time(), fields.stream(), fields.text(3, "name"), fields.map(4, "detail"));
      default -> null;
    };
  }

  static List<@Nullable Object> plain(CaptureRecord record) {
    double time = record.timeSeconds();
    Object stream =
        record.stream() == CaptureRecord.NO_STREAM ? null : Long.valueOf(record.stream());
    if (record instanceof Events it) {
      return Arrays.asList(
          "events", time, stream, it.topic(), unsigned(it.sequence()), it.payload());
    }
    if (record instanceof Replay it) {
      return Arrays.asList("replay", time, stream, unsigned(it.startSequence()), it.replies());
    }
    if (record instanceof Request it) {
      return Arrays.asList("request", time, stream, it.requestId(), it.body());
    }
    if (record instanceof Response it) {
      return Arrays.asList("response", time, stream, it.requestId(), it.result());
    }
    Mark it = (Mark) record;
    return Arrays.asList("mark", time, stream, it.name(), it.detail());
  }

  private static CaptureStream stream(@Nullable Object value) {
    Map<String, @Nullable Object> map = map(value, "a stream");
    return new CaptureStream(
        intNumber(map.get("id"), "id"),
        textOr(map, "replica"),
        map.get("dp_rank") == null ? 0 : intNumber(map.get("dp_rank"), "dp_rank"),
        textOr(map, "engine"),
        textOr(map, "model"),
        map);
  }

  private static Map<String, @Nullable Object> plain(CaptureStream stream) {
    Map<String, @Nullable Object> map = new LinkedHashMap<>();
    map.put("id", (long) stream.id());
    map.put("replica", stream.replica());
    map.put("dp_rank", (long) stream.dpRank());
    map.put("engine", stream.engine());
    map.put("engine_version", stream.engineVersion());
    map.put("model", stream.model());
    map.put("block_size", null);
    map.put("hash_algo", null);
    map.put("config", Map.of());
    map.putAll(stream.fields());
    return map;
  }

  private static Object unsigned(long value) {
    return value >= 0 ? (Object) value : new BigInteger(Long.toUnsignedString(value));
  }

  private static String textOr(Map<String, @Nullable Object> map, String key) {
    return map.get(key) instanceof String text ? text : "";
  }

  @SuppressWarnings("unchecked") // PlainValues makes no map with other keys
  private static Map<String, @Nullable Object> map(@Nullable Object value, String what) {
    if (value instanceof Map<?, ?> map) {
      return (Map<String, @Nullable Object>) map;
    }
    throw new IllegalArgumentException(what + " is not a map");
  }

  private static List<?> list(@Nullable Object value, String what) {
    if (value instanceof List<?> list) {
      return list;
    }
    throw new IllegalArgumentException(what + " is not an array");
  }

  private static int intNumber(@Nullable Object value, String what) {
    long number = number(value, what);
    if (number != (int) number) {
      throw new IllegalArgumentException(what + "=" + number);
    }
    return (int) number;
  }

  private static long number(@Nullable Object value, String what) {
    if (value instanceof Long number) {
      return number;
    }
    if (value instanceof BigInteger number) {
      return number.longValue();
    }
    throw new IllegalArgumentException(what + " is not an integer");
  }

  private static byte[] bytes(@Nullable Object value, String what) {
    if (value instanceof byte[] bytes) {
      return bytes;
    }
    throw new IllegalArgumentException(what + " is not binary");
  }

  /** The elements of one record. */
  private record Fields(List<?> values) {

    @Nullable Object at(int index) {
      return index < values.size() ? values.get(index) : null;
    }

    double time() {
      if (at(1) instanceof Number time) {
        return time.doubleValue();
      }
      throw new IllegalArgumentException("t is not a number");
    }

    int stream() {
      return at(2) == null ? CaptureRecord.NO_STREAM : intNumber(at(2), "stream");
    }

    String text(int index, String what) {
      if (at(index) instanceof String text) {
        return text;
      }
      throw new IllegalArgumentException(what + " is not a text");
    }

    long number(int index, String what) {
      return CaptureFormat.number(at(index), what);
    }

    byte[] bytes(int index, String what) {
      return CaptureFormat.bytes(at(index), what);
    }

    Map<String, @Nullable Object> map(int index, String what) {
      return at(index) == null ? Map.of() : CaptureFormat.map(at(index), what);
    }

    List<List<byte[]>> replies(int index) {
      return list(at(index), "replies").stream().map(Fields::frames).toList();
    }

    private static List<byte[]> frames(@Nullable Object reply) {
      return list(reply, "a reply").stream()
          .map(frame -> CaptureFormat.bytes(frame, "a frame"))
          .toList();
    }
  }
}
