package dev.warmpath.eventingest.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.StreamCounter;
import dev.warmpath.eventingest.transport.ReplayClient.ReplaySink;
import dev.warmpath.eventingest.wire.StreamMessage;
import org.junit.jupiter.api.Test;
import org.zeromq.SocketType;
import org.zeromq.ZContext;

class ReplayClientTest {

  @Test
  void replayWithoutASocketIsOneThatWasNotAnswered() {
    try (ZContext context = new ZContext()) {
      context.getContext().setMaxSockets(1);
      context.createSocket(SocketType.PULL);
      ReplayClient client = new ReplayClient(context, ReplayLimits.DEFAULT, 1 << 20, () -> false);
      assertThat(client.fetch("tcp://127.0.0.1:1", 0, new NoReplies())).isFalse();
    }
  }

  private static final class NoReplies implements ReplaySink {

    @Override
    public boolean batch(StreamMessage batch) {
      throw new AssertionError("nobody was asked");
    }

    @Override
    public void problem(StreamCounter what) {
      throw new AssertionError("nobody was asked");
    }
  }
}
