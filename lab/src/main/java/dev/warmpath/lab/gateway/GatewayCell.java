package dev.warmpath.lab.gateway;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;

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
}
