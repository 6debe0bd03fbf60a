package dev.warmpath.simulator.chaos.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warmpath.simulator.chaos.client.Verdict.Kind;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;

/**
 * Sends requests over plain sockets, well or badly, and judges what comes back.
 *
 * <p>Thread-safe; each call takes one thread.
 */
public final class ChaosClient implements AutoCloseable {

  static final String PATH = "/v1/chat/completions";

  private static final int SMALL_BUFFER_BYTES = 4_096;
  private static final int READ_BYTES = 1_024;
  private static final int MOST_PAUSE_MILLIS = 250;
  private static final long MOST_IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

  private final int port;
  private final Patience patience;
  private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

  /**
   * How long a client waits.
   *
   * @param hungMillis without a byte, until a request counts as hung
   * @param stallMillis that a client reads nothing which {@link ClientBehaviour#STALLS}
   */
  public record Patience(int hungMillis, int stallMillis) {}

  private record Request(Question question, ClientBehaviour behaviour, String id) {

    byte[] bytes() {
      String body = question.body();
      String all =
          ("POST %s HTTP/1.1\r\nhost: chaos\r\ncontent-type: application/json\r\n"
                  + "x-request-id: %s\r\ncontent-length: %d\r\n\r\n%s")
              .formatted(PATH, id, body.length(), body);
      int left = behaviour.sendsHalf() ? body.length() / 2 : 0;
      return all.substring(0, all.length() - left).getBytes(UTF_8);
    }
  }

  private record Connection(Socket socket, InputStream in, long sinceNanos) {}

  /**
   * @param port of the router, on the loopback interface
   */
  public ChaosClient(int port, Patience patience) {
    this.port = port;
    this.patience = patience;
  }

  /**
   * Sends one request and stays or leaves.
   *
   * @param id letters and digits; no other request has it
   */
  public Verdict send(Question question, ClientBehaviour behaviour, String id, Random random)
      throws InterruptedException {
    try {
      Connection connection =
          behaviour == ClientBehaviour.PATIENT ? take() : open(behaviour.wantsLongAnswer());
      try {
        return send(connection, new Request(question, behaviour, id), random);
      } catch (IOException e) {
        close(connection, false);
        return Verdict.of(Kind.WRONG, "the connection: " + e);
      }
    } catch (IOException e) {
      return Verdict.of(Kind.WRONG, "connecting: " + e);
    }
  }

  private Verdict send(Connection connection, Request request, Random random)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    connection.socket.getOutputStream().write(request.bytes());
    ClientBehaviour behaviour = request.behaviour;
    if (!behaviour.isJudged()) {
      return leave(connection, behaviour, random);
    }
    if (behaviour == ClientBehaviour.STALLS) {
      TimeUnit.MILLISECONDS.sleep(patience.stallMillis());
    }
    PacedStream in = new PacedStream(connection.in, behaviour == ClientBehaviour.READS_SLOWLY);
    HttpAnswer answer = HttpAnswer.read(in);
    return judge(connection, request, answer)
        .with(answer.header("x-warmpath-replica"), in.firstMillis(start));
  }

  @Override
  public void close() {
    idle.forEach(connection -> close(connection, false));
    idle.clear();
  }

  private Verdict judge(Connection connection, Request request, HttpAnswer answer)
      throws IOException {
    if (answer.end() == HttpAnswer.End.WHOLE && connection.in.available() > 0) {
      close(connection, false);
      return Classifier.wrong("bytes behind the answer", answer);
    }
    if (request.behaviour == ClientBehaviour.PATIENT && answer.keepsAlive()) {
      idle.push(new Connection(connection.socket, connection.in, System.nanoTime()));
    } else {
      close(connection, false);
    }
    if (request.behaviour != ClientBehaviour.SILENT_MID_BODY) {
      return Classifier.judge(request.question, request.id, answer);
    }
    return Classifier.judgeHalf(answer);
  }

  /** Leaves after a while, with a reset every second time. */
  private Verdict leave(Connection connection, ClientBehaviour behaviour, Random random)
      throws IOException, InterruptedException {
    try {
      if (behaviour == ClientBehaviour.LEAVES_MID_STREAM && connection.in.read() < 0) {
        return Verdict.of(Kind.WRONG, "closed without an answer");
      }
      TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_PAUSE_MILLIS));
      return Verdict.of(Kind.LEFT, behaviour.name());
    } catch (SocketTimeoutException e) {
      return Verdict.of(Kind.HUNG, "no first byte");
    } finally {
      close(connection, random.nextBoolean());
    }
  }

  private Connection take() throws IOException {
    for (Connection kept = idle.poll(); kept != null; kept = idle.poll()) {
      if (System.nanoTime() - kept.sinceNanos < MOST_IDLE_NANOS) {
        return kept;
      }
      close(kept, false);
    }
    return open(false);
  }

  private Connection open(boolean smallBuffer) throws IOException {
    Socket socket = new Socket();
    if (smallBuffer) {
      socket.setReceiveBufferSize(SMALL_BUFFER_BYTES);
    }
    socket.connect(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), patience.hungMillis());
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(patience.hungMillis());
    InputStream in = new BufferedInputStream(socket.getInputStream(), READ_BYTES);
    return new Connection(socket, in, System.nanoTime());
  }

  private static void close(Connection connection, boolean reset) {
    try (Socket socket = connection.socket) {
      if (reset) {
        socket.setSoLinger(true, 0);
      }
    } catch (IOException e) {
      // it is closed all the same
    }
  }
}
