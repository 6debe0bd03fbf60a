package dev.warmpath.router.picker;

import dev.warmpath.router.picker.Wire.MalformedException;
import dev.warmpath.router.picker.Wire.Reader;
import dev.warmpath.router.picker.Wire.Writer;
import io.vertx.core.MultiMap;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of {@code envoy.service.ext_proc.v3}, as much of them as a picker reads and writes.
 * Field numbers are those of Envoy's {@code external_processor.proto}; the tests speak with Envoy's
 * own classes.
 */
final class ExtProc {

  static final String PROCESS = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";
  static final String SERVICE = "envoy.service.ext_proc.v3.ExternalProcessor";

  /** Where the pick is told, as a header and as metadata. */
  static final String DESTINATION = "x-gateway-destination-endpoint";

  private static final String SUBSET = "x-gateway-destination-endpoint-subset";
  private static final String SERVED = "x-gateway-destination-endpoint-served";
  private static final String LB = "envoy.lb";
  private static final String SUBSET_SPACE = "envoy.lb.subset_hint";

  /** OVERWRITE_IF_EXISTS_OR_ADD. */
  private static final int OVERWRITE = 2;

  private ExtProc() {}

  /** What a message of Envoy's is about. */
  enum Kind {
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    REQUEST_BODY,
    RESPONSE_BODY,
    REQUEST_TRAILERS,
    RESPONSE_TRAILERS;

    /** The field of an answer to it. */
    private int answerField() {
      return ordinal() + 1;
    }

    private static @Nullable Kind of(int field) {
      return switch (field) {
        case 2 -> REQUEST_HEADERS;
        case 3 -> RESPONSE_HEADERS;
        case 4 -> REQUEST_BODY;
        case 5 -> RESPONSE_BODY;
        case 6 -> REQUEST_TRAILERS;
        case 7 -> RESPONSE_TRAILERS;
        default -> null;
      };
    }
  }

  /** How Envoy sends a body: {@code ProcessingMode.BodySendMode}. */
  enum BodyMode {
    NONE,
    STREAMED,
    BUFFERED,
    BUFFERED_PARTIAL,
    FULL_DUPLEX_STREAMED,
    GRPC;

    private static BodyMode of(long number) throws MalformedException {
      if (number < 0 || number >= values().length) {
        throw new MalformedException("body mode " + number);
      }
      return values()[(int) number];
    }

    /** Whether all of a body comes in one message. */
    boolean isWhole() {
      return this == BUFFERED;
    }

    /** Whether a request whose body comes so can be judged by all of it, or by none. */
    boolean isRead() {
      return this == NONE || this == BUFFERED || this == FULL_DUPLEX_STREAMED;
    }
  }

  /** What the first message says of all that follow. */
  record Modes(BodyMode request, BodyMode response) {

    /** Of a gateway that says nothing. */
    static final Modes USUAL =
        new Modes(BodyMode.FULL_DUPLEX_STREAMED, BodyMode.FULL_DUPLEX_STREAMED);
  }

  /**
   * A message of Envoy's ({@code ProcessingRequest}).
   *
   * @param kind null if it is about something else
   * @param headers of heads only; pseudo-headers included
   * @param body of pieces of bodies only
   * @param modes null if it does not say
   * @param subset the endpoints that alone may be picked; null if there is no such hint
   * @param served the endpoint that has answered, or null
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Request(
      @Nullable Kind kind,
      MultiMap headers,
      byte[] body,
      boolean endOfStream,
      @Nullable Modes modes,
      @Nullable List<String> subset,
      @Nullable String served) {

    private static final int METADATA = 8;
    private static final int PROTOCOL_CONFIG = 11;
    private static final int HEADERS = 1;
    private static final int HEADERS_END = 3;
    private static final int BODY = 1;
    private static final int BODY_END = 2;
    private static final int BODY_END_WITHOUT_MESSAGE = 3;
    private static final byte[] EMPTY = {};

    /** Of what is no head; not to be changed. */
    private static final MultiMap NONE = MultiMap.caseInsensitiveMultiMap();

    static Request read(byte[] bytes) throws MalformedException {
      Kind kind = null;
      MultiMap headers = NONE;
      byte[] body = EMPTY;
      boolean end = false;
      Modes modes = null;
      Metadata metadata = new Metadata();
      Reader message = new Reader(bytes);
      while (message.next()) {
        Kind found = Kind.of(message.field());
        if (found != null) {
          kind = found;
          Reader part = message.message();
          while (part.next()) {
            int field = part.field();
            switch (kind) {
              case REQUEST_HEADERS, RESPONSE_HEADERS -> {
                if (field == HEADERS) {
                  headers = MultiMap.caseInsensitiveMultiMap();
                  readHeaders(part.message(), headers);
                } else if (field == HEADERS_END) {
                  end = part.flag();
                }
              }
              case REQUEST_BODY, RESPONSE_BODY -> {
                if (field == BODY) {
                  body = part.bytes();
                } else if (field == BODY_END || field == BODY_END_WITHOUT_MESSAGE) {
                  end |= part.flag();
                }
              }
              default -> {}
            }
          }
        } else if (message.field() == METADATA) {
          metadata.read(message.message());
        } else if (message.field() == PROTOCOL_CONFIG) {
          modes = readModes(message.message());
        }
      }
      return new Request(kind, headers, body, end, modes, metadata.subset, metadata.served);
    }

    private static void readHeaders(Reader map, MultiMap into) throws MalformedException {
      while (map.next()) {
        if (map.field() == 1) {
          Reader header = map.message();
          String key = "";
          String value = "";
          while (header.next()) {
            switch (header.field()) {
              case 1 -> key = header.text();
              case 2 -> value = value.isEmpty() ? header.text() : value;
              case 3 -> value = new String(header.bytes(), StandardCharsets.UTF_8);
              default -> {}
            }
          }
          into.add(key, value);
        }
      }
    }

    private static Modes readModes(Reader config) throws MalformedException {
      BodyMode request = BodyMode.NONE;
      BodyMode response = BodyMode.NONE;
      while (config.next()) {
        switch (config.field()) {
          case 1 -> request = BodyMode.of(config.number());
          case 2 -> response = BodyMode.of(config.number());
          default -> {}
        }
      }
      return new Modes(request, response);
    }
  }

  /** What Envoy's {@code filter_metadata} says of endpoints. */
  private static final class Metadata {
    private @Nullable List<String> subset;
    private @Nullable String served;

    void read(Reader metadata) throws MalformedException {
      while (metadata.next()) {
        if (metadata.field() == 1) { // filter_metadata, a map
          Reader space = metadata.message();
          String name = "";
          while (space.next()) {
            if (space.field() == 1) {
              name = space.text();
            } else if (name.equals(LB) || name.equals(SUBSET_SPACE)) {
              readSpace(name, space.message());
            }
          }
        }
      }
    }

    private void readSpace(String space, Reader struct) throws MalformedException {
      while (struct.next()) {
        Reader field = struct.message();
        String key = "";
        while (field.next()) {
          if (field.field() == 1) {
            key = field.text();
          } else if (space.equals(SUBSET_SPACE) && key.equals(SUBSET)) {
            subset = texts(field.message());
          } else if (space.equals(LB) && key.equals(SERVED)) {
            List<String> found = texts(field.message());
            served = found.isEmpty() ? null : found.get(0);
          }
        }
      }
    }

    /** A value's texts: those of a list, or those between a text's commas. */
    private static List<String> texts(Reader value) throws MalformedException {
      List<String> texts = new ArrayList<>();
      while (value.next()) {
        if (value.field() == 3) {
          texts.addAll(endpoints(value.text()));
        } else if (value.field() == 6) {
          Reader list = value.message();
          while (list.next()) {
            texts.addAll(texts(list.message()));
          }
        }
      }
      return texts;
    }
  }

  /** The endpoints in a list with commas. */
  static List<String> endpoints(String list) {
    return Arrays.stream(list.split(",", -1)).map(String::trim).filter(e -> !e.isEmpty()).toList();
  }

  /** Changes of headers ({@code HeaderMutation}). */
  static final class Mutation {
    private final Writer written = new Writer();
    private boolean empty = true;

    Mutation set(String name, String value) {
      Writer header =
          new Writer().text(1, name).bytes(3, value.getBytes(StandardCharsets.UTF_8)); // raw_value
      written.message(1, new Writer().message(1, header).number(3, OVERWRITE));
      empty = false;
      return this;
    }

    Mutation remove(String name) {
      written.text(2, name);
      empty = false;
      return this;
    }
  }

  /** Leaves a head as it is, but for these changes. */
  static byte[] head(Kind kind, Mutation changes) {
    return answer(kind, common(changes));
  }

  /**
   * Tells where a request goes, with its head.
   *
   * @param endpoints in the order in which they are tried
   */
  static byte[] pick(Kind kind, Mutation changes, String endpoints, byte @Nullable [] body) {
    Writer common = common(changes);
    if (body != null) {
      common.message(3, new Writer().bytes(1, body));
    }
    common.flag(5, true); // clear_route_cache
    Writer place = entry(DESTINATION, new Writer().text(3, endpoints));
    Writer metadata = entry(LB, new Writer().message(5, new Writer().message(1, place)));
    return new Writer()
        .message(kind.answerField(), new Writer().message(1, common))
        .message(8, new Writer().message(1, metadata))
        .written();
  }

  private static Writer entry(String key, Writer value) {
    return new Writer().text(1, key).message(2, value);
  }

  private static Writer common(Mutation changes) {
    Writer common = new Writer();
    if (!changes.empty) {
      common.message(2, changes.written);
    }
    return common;
  }

  private static byte[] answer(Kind kind, Writer common) {
    return new Writer().message(kind.answerField(), new Writer().message(1, common)).written();
  }

  /** Leaves a piece of a body as it is, where Envoy has kept it. */
  static byte[] kept(Kind kind) {
    return answer(kind, new Writer());
  }

  /** Gives a piece of a body back, in full duplex. */
  static byte[] piece(Kind kind, byte[] bytes, int from, int to, boolean endOfStream) {
    // written outside in, so that the bytes are copied once
    int streamed = (to > from ? Writer.lengthOf(to - from) : 0) + (endOfStream ? 2 : 0);
    int mutation = Writer.lengthOf(streamed);
    int common = Writer.lengthOf(mutation);
    int response = Writer.lengthOf(common);
    Writer answer =
        new Writer(Writer.lengthOf(response))
            .begin(kind.answerField(), response)
            .begin(1, common)
            .begin(3, mutation)
            .begin(3, streamed);
    if (to > from) {
      answer.bytes(1, bytes, from, to);
    }
    return answer.flag(2, endOfStream).written();
  }

  /** Leaves trailers as they are. */
  static byte[] trailers(Kind kind) {
    return new Writer().message(kind.answerField(), new Writer()).written();
  }

  /** Answers the client at once. */
  static byte[] immediate(int status, Mutation headers, String body, String details) {
    Writer answer =
        new Writer()
            .message(1, new Writer().number(1, status))
            .message(2, headers.written)
            .text(3, body)
            .text(5, details);
    return new Writer().message(7, answer).written();
  }
}
