package dev.warmpath.eventingest.zmq;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.stream.StreamMessage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.zeromq.ZContext;

/** Connections to publishers that send their whole greeting at once; some libraries do. */
@Timeout(120)
final class IoNudgeTest {

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
        try (ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
          String endpoint = "tcp://127.0.0.1:" + listener.getLocalPort();
          EventSubscriber subscriber = new EventSubscriber(context, endpoint, false, sink());
          poller.follow(subscriber);
          try (Socket peer = listener.accept()) {
            publish(peer, i);
            assertThat(heard.poll(20, TimeUnit.SECONDS)).as("connection %d", i).isEqualTo(i);
          }
          subscriber.stop();
        }
      }
      poller.stop();
      thread.join();
    }
  }

  private static void publish(Socket peer, long sequence) throws IOException {
    peer.setSoTimeout(20_000);
    byte[] greeting = new byte[64];
    greeting[0] = (byte) 0xff;
    greeting[9] = 0x7f;
    greeting[10] = 3;
    System.arraycopy("NULL".getBytes(US_ASCII), 0, greeting, 12, 4);
    peer.getOutputStream().write(greeting);
    InputStream in = peer.getInputStream();
    assertThat(in.readNBytes(64)).hasSize(64);
    skipFrame(in);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {4, 25, 5});
    out.writeBytes("READY".getBytes(US_ASCII));
    out.write(11);
    out.writeBytes("Socket-Type".getBytes(US_ASCII));
    out.writeBytes(new byte[] {0, 0, 0, 3});
    out.writeBytes("PUB".getBytes(US_ASCII));
    peer.getOutputStream().write(out.toByteArray());
    skipFrame(in);
    out.reset();
    out.writeBytes(new byte[] {1, 0, 1, 8});
    out.writeBytes(StreamMessage.sequenceFrame(sequence));
    out.writeBytes(new byte[] {0, 1, 0});
    peer.getOutputStream().write(out.toByteArray());
  }

  private static void skipFrame(InputStream in) throws IOException {
    byte[] head = in.readNBytes(2);
    assertThat(in.readNBytes(head[1])).hasSize(head[1]);
  }

  private LiveSink sink() {
    return new LiveSink() {
      @Override
      public void message(byte[] topic, StreamMessage message) {
        heard.add(message.sequence());
      }

      @Override
      public void badMessage(int frames) {
        heard.add(-1L);
      }

      @Override
      public void up() {}

      @Override
      public void down() {}
    };
  }
}
