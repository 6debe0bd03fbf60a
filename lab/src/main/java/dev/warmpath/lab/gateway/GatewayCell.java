package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warmpath.simulator.demo.ChatWords;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One kind of load: the size of its chats and the shape of their answers, at a rate.
 *
 * @param size as in its name
 * @param perSecond requests a second
 */
record GatewayCell(String size, AnswerShape shape, double perSecond) {

  private static final String SMALL = "2k";
  private static final String MIDDLE = "16k";
  private static final String LARGE = "400k";

  /** Chats of 2 KiB with whole answers, which warm everything up. */
  static final GatewayCell PLAIN = new GatewayCell(SMALL, AnswerShape.PLAIN, 300);

  /** The same with streams that last a third of a second. */
  static final GatewayCell STREAMS = new GatewayCell(SMALL, AnswerShape.PACED, 100);

  GatewayCell {
    if (!(perSecond > 0 && perSecond <= 100_000)) {
      throw new IllegalArgumentException("perSecond=" + perSecond);
    }
  }

  /** All of them, at their usual rates. */
  static List<GatewayCell> all() {
    List<GatewayCell> cells = new ArrayList<>();
    for (String size : List.of(SMALL, MIDDLE, LARGE)) {
      for (AnswerShape shape : AnswerShape.values()) {
        cells.add(new GatewayCell(size, shape, usualRate(size, shape)));
      }
    }
    return cells;
  }

  String name() {
    return size + "-" + shape.text();
  }

  GatewayCell at(double perSecond) {
    return new GatewayCell(size, shape, perSecond);
  }

  /** Its requests; the same seed gives the same. */
  List<ByteBuf> requests(String model, int count, long seed) {
    return switch (size) {
      case SMALL -> chats(model, 2_048, seed).withSystemPrompts(count);
      case MIDDLE -> chats(model, 16_384, seed).withSystemPrompts(count);
      default -> chats(model, 400_000, seed).ofGrowingChats(count);
    };
  }

  /** Requests in so many seconds. */
  int count(double seconds) {
    return (int) Math.round(seconds * perSecond);
  }

  private GatewayRequests chats(String model, int bytes, long seed) {
    return new GatewayRequests(model, bytes, shape.streams(), seed);
  }

  private static double usualRate(String size, AnswerShape shape) {
    return switch (size) {
      case SMALL -> shape == AnswerShape.PLAIN ? PLAIN.perSecond : 100;
      case MIDDLE -> 100;
      default -> 10;
    };
  }

  /**
   * Makes whole HTTP requests before a load begins. Requests that begin alike share those bytes.
   *
   * <p>Immutable; the same seed gives the same requests.
   *
   * @param bodyBytes size of a body, about
   * @param streamed whether a stream is asked for
   */
  record GatewayRequests(String model, int bodyBytes, boolean streamed, long seed) {

    private static final int SYSTEM_PROMPTS = 64;
    private static final double SYSTEM_SHARE = 0.75;
    private static final int GROWING_CHATS = 8;
    private static final int MESSAGE_CHARS = 2_000;
    private static final int TURN_CHARS = 1_000;
    private static final int LEAST_QUESTION_CHARS = 16;

    /** Each begins with one of a few system prompts, which are three quarters of its text. */
    List<ByteBuf> withSystemPrompts(int count) {
      ChatWords words = new ChatWords(seed);
      Random random = new Random(seed);
      List<byte[]> begins = new ArrayList<>();
      for (int i = 0; i < SYSTEM_PROMPTS; i++) {
        String system = message("system", words.chars((int) (bodyBytes * SYSTEM_SHARE)));
        begins.add((begin() + system + ",").getBytes(UTF_8));
      }
      List<ByteBuf> requests = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        byte[] begin = begins.get(random.nextInt(SYSTEM_PROMPTS));
        int chars = bodyBytes - begin.length - message("user", i + " ").length() - end().length();
        String question = i + " " + words.chars(Math.max(LEAST_QUESTION_CHARS, chars));
        requests.add(request(begin, begin.length, message("user", question) + end()));
      }
      return requests;
    }

    /** A few chats take turns; each request of a chat is the one before, an answer, a question. */
    List<ByteBuf> ofGrowingChats(int count) {
      List<List<ByteBuf>> chats = new ArrayList<>();
      for (int chat = 0; chat < GROWING_CHATS; chat++) {
        chats.add(growingChat(new ChatWords(31 * seed + chat), count / GROWING_CHATS + 1));
      }
      List<ByteBuf> requests = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        requests.add(chats.get(i % GROWING_CHATS).get(i / GROWING_CHATS));
      }
      return requests;
    }

    private List<ByteBuf> growingChat(ChatWords words, int turns) {
      ByteArrayOutputStream text = new ByteArrayOutputStream(bodyBytes + 3 * turns * TURN_CHARS);
      add(text, begin() + message("system", words.chars(MESSAGE_CHARS)));
      add(text, "," + message("user", words.chars(MESSAGE_CHARS)));
      while (text.size() < bodyBytes) {
        addTurn(text, words, MESSAGE_CHARS);
      }
      List<Integer> lengths = new ArrayList<>();
      for (int turn = 0; turn < turns; turn++) {
        addTurn(text, words, TURN_CHARS);
        lengths.add(text.size());
      }
      byte[] all = text.toByteArray();
      return lengths.stream().map(length -> request(all, length, end())).toList();
    }

    private static void addTurn(ByteArrayOutputStream text, ChatWords words, int chars) {
      add(text, "," + message("assistant", words.chars(chars)));
      add(text, "," + message("user", words.chars(chars)));
    }

    private static void add(ByteArrayOutputStream to, String text) {
      to.writeBytes(text.getBytes(UTF_8));
    }

    private String begin() {
      return "{\"model\":\"%s\",\"stream\":%s,\"max_tokens\":64,\"messages\":["
          .formatted(model, streamed);
    }

    private static String message(String role, String text) {
      return "{\"role\":\"%s\",\"content\":\"%s\"}".formatted(role, text);
    }

    private static String end() {
      return "]}";
    }

    /** Head, shared bytes and the rest; may be written any number of times as a duplicate. */
    private static ByteBuf request(byte[] shared, int length, String rest) {
      byte[] end = rest.getBytes(UTF_8);
      String head =
          "POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
              .formatted(length + end.length);
      return Unpooled.unreleasableBuffer(
          Unpooled.wrappedBuffer(
              Unpooled.wrappedBuffer(head.getBytes(UTF_8)),
              Unpooled.wrappedBuffer(shared, 0, length),
              Unpooled.wrappedBuffer(end)));
    }
  }
}
