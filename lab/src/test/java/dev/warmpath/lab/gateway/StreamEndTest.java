package dev.warmpath.lab.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.lab.gateway.RunningLoad.LoadConnections.Connection.StreamEnd;
import io.netty.buffer.Unpooled;
import org.junit.jupiter.api.Test;

class StreamEndTest {

  @Test
  void knowsACompleteStreamHoweverItIsCut() {
    assertThat(isDone("data: {}\n\ndata: [DONE]\n\n")).isTrue();
    assertThat(isDone("data: {}\n\ndata: [DO", "NE]\n", "\n")).isTrue();
    assertThat(isDone("data: {}\r\n\r\ndata: [DONE]\r\n\r\n")).isTrue();
    assertThat(isDone("d", "[", "D", "O", "N", "E", "]")).isTrue();
  }

  @Test
  void knowsOneThatBrokeOff() {
    assertThat(isDone()).isFalse();
    assertThat(isDone("data: {}\n\n")).isFalse();
    assertThat(isDone("data: [DONE]\n\n", "data: {}\n\n")).isFalse();
    assertThat(isDone("data: [DONE")).isFalse();
  }

  private static boolean isDone(String... parts) {
    StreamEnd end = new StreamEnd();
    for (String part : parts) {
      end.read(Unpooled.copiedBuffer(part, UTF_8));
    }
    return end.isDone();
  }
}
