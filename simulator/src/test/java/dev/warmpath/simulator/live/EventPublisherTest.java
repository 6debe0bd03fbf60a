package dev.warmpath.simulator.live;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

class EventPublisherTest {

  private static final List<CacheEvent> CLEARED = List.of(new CacheEvent.Cleared());

  @Test
  void batchesAreNumberedFromZeroAndTheBufferIsBounded() {
    PublisherOptions options = PublisherOptions.DEFAULT.withBuffer(3);
    try (EventPublisher publisher = publisher(options);
        ZContext context = new ZContext()) {
      for (int i = 0; i < 5; i++) {
        publisher.publish(CLEARED);
      }
      publisher.publish(List.of());

      List<byte[][]> replies = replay(context, publisher, 0, 3, 4);

      assertThat(replies).hasSize(4).allMatch(frames -> frames.length == 3);
      assertThat(replies.stream().map(frames -> number(frames[1])).toList())
          .containsExactly(2L, 3L, 4L, -1L);
      assertThat(replies.get(3)[2]).isEmpty();
    }
  }

  @Test
  void arrayEraAnswersWithTwoFrames() {
    PublisherOptions options = PublisherOptions.DEFAULT.in(WireForm.ARRAY, false);
    try (EventPublisher publisher = publisher(options);
        ZContext context = new ZContext()) {
      publisher.publish(CLEARED);
      publisher.publish(CLEARED);

      List<byte[][]> replies = replay(context, publisher, 1, 1, 1);

      assertThat(replies).hasSize(2).allMatch(frames -> frames.length == 2);
      assertThat(number(replies.get(0)[0])).isEqualTo(1);
      assertThat(number(replies.get(1)[0])).isEqualTo(-1);
    }
  }

  @Test
  void liveMessagesHaveTopicNumberAndPayload() {
    PublisherOptions options = PublisherOptions.DEFAULT;
    try (EventPublisher publisher = publisher(options);
        ZContext context = new ZContext()) {
      ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
      subscriber.setHandshakeIvl(500);
      subscriber.setReceiveTimeOut(50);
      subscriber.subscribe("");
      subscriber.connect("tcp://127.0.0.1:" + publisher.livePort());

      ZMsg message = null;
      for (int i = 0; i < 1_000 && message == null; i++) {
        publisher.publish(CLEARED);
        message = ZMsg.recvMsg(subscriber);
      }

      assertThat(message).isNotNull().hasSize(3);
      assertThat(message.getFirst().getData()).isEmpty();
    }
  }

  @Test
  void portsAreFreeAfterClose() {
    EventPublisher first = publisher(PublisherOptions.DEFAULT);
    first.close();
    EventPublisher second =
        new EventPublisher(
            PublisherOptions.DEFAULT, first.livePort(), first.replayPort(), true, () -> 0);
    second.close();

    assertThat(second.livePort()).isEqualTo(first.livePort());
  }

  private static EventPublisher publisher(PublisherOptions options) {
    return new EventPublisher(options, 0, 0, true, () -> 1.5);
  }

  /** Asks until the answer begins with {@code first} and ends behind {@code last}. */
  private static List<byte[][]> replay(
      ZContext context, EventPublisher publisher, long start, int messages, long last) {
    ZMQ.Socket dealer = context.createSocket(SocketType.DEALER);
    dealer.setHandshakeIvl(500);
    dealer.setReceiveTimeOut(20_000);
    dealer.connect("tcp://127.0.0.1:" + publisher.replayPort());
    for (int attempt = 0; attempt < 100; attempt++) {
      dealer.sendMore(new byte[0]);
      dealer.send(ByteBuffer.allocate(8).putLong(start).array());
      List<byte[][]> replies = readAnswer(dealer);
      int frames = replies.get(0).length;
      boolean complete =
          replies.size() == messages + 1 && number(replies.get(messages - 1)[frames - 2]) == last;
      if (complete) {
        return replies;
      }
    }
    throw new AssertionError("no complete answer");
  }

  private static List<byte[][]> readAnswer(ZMQ.Socket dealer) {
    List<byte[][]> replies = new ArrayList<>();
    while (true) {
      ZMsg message = ZMsg.recvMsg(dealer);
      assertThat(message).as("answer").isNotNull();
      assertThat(message.pop().getData()).isEmpty();
      byte[][] frames = message.stream().map(frame -> frame.getData()).toArray(byte[][]::new);
      replies.add(frames);
      if (number(frames[frames.length - 2]) == -1) {
        return replies;
      }
    }
  }

  private static long number(byte[] frame) {
    return ByteBuffer.wrap(frame).getLong();
  }
}
