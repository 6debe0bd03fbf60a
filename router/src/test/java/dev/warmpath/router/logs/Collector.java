package dev.warmpath.router.logs;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/** A collector that takes spans by OTLP over HTTP, as protobuf. */
final class Collector implements AutoCloseable {

  /** A span; its status code is 2 for an error. */
  record Span(
      String trace,
      String id,
      String parent,
      String name,
      int kind,
      Map<String, Object> attributes,
      List<String> events,
      int status) {}

  final List<Span> spans = new CopyOnWriteArrayList<>();
  final List<String> services = new CopyOnWriteArrayList<>();
  final List<String> keys = new CopyOnWriteArrayList<>();
  final StringBuffer raw = new StringBuffer();
  private final HttpServer server;
  private volatile CountDownLatch held = new CountDownLatch(0);

  Collector() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/v1/traces", this::take);
    server.start();
  }

  String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Answers nothing until it is released. */
  void hold() {
    held = new CountDownLatch(1);
  }

  void release() {
    held.countDown();
  }

  private void take(HttpExchange at) throws IOException {
    try {
      held.await();
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
    byte[] body = at.getRequestBody().readAllBytes();
    raw.append(new String(body, StandardCharsets.ISO_8859_1));
    keys.add(String.valueOf(at.getRequestHeaders().getFirst("x-key")));
    for (Object resourceSpans : fields(bytes(body), 1)) {
      services.add(String.valueOf(attributes(first(resourceSpans, 1), 1).get("service.name")));
      for (Object scopeSpans : fields(resourceSpans, 2)) {
        fields(scopeSpans, 2).forEach(span -> spans.add(span(span)));
      }
    }
    at.getResponseHeaders().add("content-type", "application/x-protobuf");
    at.sendResponseHeaders(200, -1);
    at.close();
  }

  private static Span span(Object span) {
    List<String> events = fields(span, 11).stream().map(event -> text(first(event, 2))).toList();
    Object status = first(span, 15);
    return new Span(
        hex(first(span, 1)),
        hex(first(span, 2)),
        hex(first(span, 4)),
        text(first(span, 5)),
        ((Long) first(span, 6)).intValue(),
        attributes(span, 9),
        events,
        status == null || first(status, 3) == null ? 0 : ((Long) first(status, 3)).intValue());
  }

  private static Map<String, Object> attributes(Object message, int field) {
    Map<String, Object> all = new LinkedHashMap<>();
    for (Object pair : fields(message, field)) {
      Object value = first(pair, 2);
      Object string = first(value, 1);
      all.put(text(first(pair, 1)), string == null ? first(value, 3) : text(string));
    }
    return all;
  }

  private static ByteBuffer bytes(byte[] of) {
    return ByteBuffer.wrap(of).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static Object first(Object message, int field) {
    List<Object> all = message == null ? List.of() : fields(message, field);
    return all.isEmpty() ? null : all.get(0);
  }

  /** The values of one field of a message: numbers, or what has a length. */
  private static List<Object> fields(Object message, int field) {
    ByteBuffer in = ((ByteBuffer) message).duplicate().order(ByteOrder.LITTLE_ENDIAN);
    List<Object> found = new ArrayList<>();
    while (in.hasRemaining()) {
      long tag = varint(in);
      Object value =
          switch ((int) (tag & 7)) {
            case 0 -> varint(in);
            case 1 -> in.getLong();
            case 2 -> slice(in, (int) varint(in));
            case 5 -> (long) in.getInt();
            default -> throw new IllegalStateException("tag=" + tag);
          };
      if (tag >>> 3 == field) {
        found.add(value);
      }
    }
    return found;
  }

  private static ByteBuffer slice(ByteBuffer in, int length) {
    ByteBuffer part = in.slice(in.position(), length);
    in.position(in.position() + length);
    return part;
  }

  private static long varint(ByteBuffer in) {
    long value = 0;
    for (int shift = 0; ; shift += 7) {
      byte next = in.get();
      value |= (long) (next & 0x7f) << shift;
      if (next >= 0) {
        return value;
      }
    }
  }

  private static String text(Object value) {
    return StandardCharsets.UTF_8.decode(((ByteBuffer) value).duplicate()).toString();
  }

  private static String hex(Object value) {
    if (value == null) {
      return "";
    }
    ByteBuffer in = ((ByteBuffer) value).duplicate();
    byte[] all = new byte[in.remaining()];
    in.get(all);
    return HexFormat.of().formatHex(all);
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
