package dev.warmpath.eventingest.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.wire.StreamMessage;
import java.net.ServerSocket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.ZContext;

/** Connections to publishers that send their whole greeting at once; some libraries do. */
@Timeout(120)
final class JeroMqConnectWorkaroundTest {

  /** Of which several would never be heard without a nudge. */
  private static final int CONNECTIONS = 100;

  private final BlockingQueue<Long> heard = new LinkedBlockingQueue<>();

  @Test
  void eachConnectionIsHeard() throws Exception {
    try (ZContext context = new ZContext(1)) {
      context.setLinger(0);
      EventPoller poller = new EventPoller(context, () -> {});
      Thread thread = new Thread(poller);
      thread.start();
      for (long i = 0; i < CONNECTIONS; i++) {
        try (ServerSocket listener = RawPublisher.listen()) {
          String endpoint = RawPublisher.endpoint(listener);
          EventSubscriber subscriber =
              new EventSubscriber(context, endpoint, false, sink(), 1 << 20);
          poller.follow(subscriber);
          try (RawPublisher peer = RawPublisher.accept(listener)) {
            peer.publish(i);
            assertThat(heard.poll(20, TimeUnit.SECONDS)).as("connection %d", i).isEqualTo(i);
          }
          subscriber.stop();
        }
      }
      poller.stop();
      thread.join();
    }
  }

  private LiveSink sink() {
    return new LiveSink() {
      @Override
      public void message(byte[] topic, StreamMessage message) {
        heard.add(message.sequence());
      }

      @Override
      public void problem(StreamCounter what) {
        heard.add(-1L);
      }

      @Override
      public void refused() {}

      @Override
      public void up() {}

      @Override
      public void down() {}
    };
  }
}
