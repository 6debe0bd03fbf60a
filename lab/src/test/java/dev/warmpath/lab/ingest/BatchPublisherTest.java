package dev.warmpath.lab.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.ingest.ZmqPass.BatchPublisher;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/** A ZeroMQ subscriber hears what the publisher sends. */
@Timeout(60)
final class BatchPublisherTest {

  @ParameterizedTest
  @ValueSource(ints = {0, 255, 256, 70_000, 3_000_000})
  void payloadsArriveWhole(int bytes) {
    byte[] payload = new byte[bytes];
    Arrays.fill(payload, (byte) 7);
    try (BatchPublisher publisher = new BatchPublisher(2);
        ZContext context = new ZContext()) {
      ZMQ.Socket subscriber = subscriber(context, publisher.endpoint(1));
      byte[][] message = heard(publisher, subscriber, payload);
      assertThat(message[0]).isEmpty();
      assertThat(ByteBuffer.wrap(message[1]).getLong()).isEqualTo(42);
      assertThat(message[2]).isEqualTo(payload);
    }
  }

  @Test
  void whoLeavesDuringTheHandshakeKeepsNobodyElseOut() throws Exception {
    try (BatchPublisher publisher = new BatchPublisher(2);
        ZContext context = new ZContext()) {
      new Socket("127.0.0.1", URI.create(publisher.endpoint(1)).getPort()).close();
      publisher.send(1, 0, new byte[1]);
      ZMQ.Socket subscriber = subscriber(context, publisher.endpoint(1));
      assertThat(heard(publisher, subscriber, new byte[3])[2]).hasSize(3);
    }
  }

  private static ZMQ.Socket subscriber(ZContext context, String endpoint) {
    ZMQ.Socket subscriber = context.createSocket(SocketType.SUB);
    subscriber.setReceiveTimeOut(20);
    subscriber.setHandshakeIvl(500);
    subscriber.subscribe(new byte[0]);
    subscriber.connect(endpoint);
    return subscriber;
  }

  private static byte[][] heard(BatchPublisher publisher, ZMQ.Socket from, byte[] payload) {
    byte @Nullable [] first = null;
    while (first == null) {
      publisher.send(1, 42, payload);
      first = from.recv();
    }
    from.setReceiveTimeOut(-1);
    return new byte[][] {first, from.recv(), from.recv()};
  }
}
