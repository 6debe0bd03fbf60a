package dev.warmpath.simulator.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A server that stops in the middle of its answer, or says something odd. */
@Timeout(60)
class ChatClientTest {

  private static final String HEAD = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
  private static final String PIECE = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

  private final List<Socket> sockets = new ArrayList<>();
  private ServerSocket server;

  @BeforeEach
  void listen() throws IOException {
    server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  }

  @AfterEach
  void close() throws IOException {
    server.close();
    for (Socket socket : sockets) {
      socket.close();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", HEAD, HEAD + PIECE, HEAD + PIECE + "data: {\"cho"})
  void stalledAnswerIsGivenUp(String begin) throws Exception {
    Thread answering = answer(begin, false);

    ChatReply reply = send(Duration.ofSeconds(1));

    assertThat(reply.error()).isEqualTo("nothing came for 1000 ms");
    answering.join();
    assertThat(sockets.get(0).getInputStream().read()).as("the connection is closed").isEqualTo(-1);
  }

  @Test
  void wholeAnswerIsRead() throws Exception {
    String usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":40,\"completion_tokens\":2,"
            + "\"prompt_tokens_details\":{\"cached_tokens\":32}}}\n\n";
    String head = HEAD.replace("\r\n\r\n", "\r\nx-warmpath-cached-tokens: 48\r\n\r\n");
    answer(head + PIECE + ": still there\n\n" + PIECE + usage + "data: [DONE]\n\n", true);

    ChatReply reply = send(Duration.ofSeconds(60));

    assertThat(reply.error()).isNull();
    assertThat(reply.text()).isEqualTo("aa");
    assertThat(reply.promptTokens()).isEqualTo(40);
    assertThat(reply.cachedTokens()).isEqualTo(32);
    assertThat(reply.firstTokenMillis()).isNotNegative();
    assertThat(reply.tokenMillis()).as("two tokens in two pieces").isNotNegative();
    assertThat(reply.promisedTooMuch()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        HEAD + PIECE,
        HEAD + PIECE + "data: {oops\n\ndata: [DONE]\n\n",
        HEAD + "data: {\"error\":{\"message\":\"no\"}}\n\ndata: [DONE]\n\n"
      })
  void brokenAnswerIsAnError(String answer) throws Exception {
    answer(answer, true);

    assertThat(send(Duration.ofSeconds(60)).error()).isEqualTo("the stream broke off");
  }

  @Test
  void statusIsNamed() throws Exception {
    answer("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n", true);

    assertThat(send(Duration.ofSeconds(60)).error()).isEqualTo("status 503");
  }

  private ChatReply send(Duration idle) {
    String url = "http://127.0.0.1:" + server.getLocalPort();
    return new ChatClient(url, idle, System::nanoTime).send("{}");
  }

  /** Answers the next request, and closes its connection or lets it be. */
  private Thread answer(String text, boolean closes) {
    Thread thread =
        new Thread(() -> {
          try {
            Socket socket = server.accept();
            sockets.add(socket);
            readRequest(socket.getInputStream());
            socket.getOutputStream().write(text.getBytes(UTF_8));
            if (closes) {
              socket.close();
            }
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
    thread.start();
    return thread;
  }

  /** The body is two bytes long. */
  private static void readRequest(InputStream in) throws IOException {
    StringBuilder seen = new StringBuilder();
    while (!seen.toString().endsWith("\r\n\r\n{}")) {
      seen.append((char) in.read());
    }
  }
}
