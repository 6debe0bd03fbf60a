package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.warmpath.lab.chaos.Classifier.ChaosVerdict;
import dev.warmpath.lab.chaos.Classifier.ChaosVerdict.Kind;
import dev.warmpath.lab.chaos.Questions.Question;
import java.io.BufferedInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
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
final class ChaosClient implements AutoCloseable {

  static final String PATH = "/v1/chat/completions";

  private static final int MOST_PAUSE_MILLIS = 250;

  private final Patience patience;
  private final Connections connections;

  /**
   * How long a client waits.
   *
   * @param hungMillis without a byte, until a request counts as hung
   * @param stallMillis that a client reads nothing which {@link ClientBehaviour#STALLS}
   */
  record Patience(int hungMillis, int stallMillis) {}

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

  /**
   * @param port of the router, on the loopback interface
   */
  ChaosClient(int port, Patience patience) {
    this.patience = patience;
    connections = new Connections(port, patience.hungMillis());
  }

  /**
   * Sends one request and stays or leaves.
   *
   * @param id letters and digits; no other request has it
   */
  ChaosVerdict send(Question question, ClientBehaviour behaviour, String id, Random random)
      throws InterruptedException {
    try {
      Connections.Connection connection =
          behaviour == ClientBehaviour.PATIENT
              ? connections.take()
              : connections.open(behaviour.wantsLongAnswer());
      try {
        return send(connection, new Request(question, behaviour, id), random);
      } catch (IOException e) {
        connection.end(false);
        return ChaosVerdict.of(Kind.WRONG, "the connection: " + e);
      }
    } catch (IOException e) {
      return ChaosVerdict.of(Kind.WRONG, "connecting: " + e);
    }
  }

  private ChaosVerdict send(Connections.Connection connection, Request request, Random random)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    connection.socket().getOutputStream().write(request.bytes());
    ClientBehaviour behaviour = request.behaviour;
    if (!behaviour.isJudged()) {
      return leave(connection, behaviour, random);
    }
    if (behaviour == ClientBehaviour.STALLS) {
      TimeUnit.MILLISECONDS.sleep(patience.stallMillis());
    }
    PacedStream in = new PacedStream(connection.in(), behaviour == ClientBehaviour.READS_SLOWLY);
    HttpAnswer answer = HttpAnswer.read(in);
    return judge(connection, request, answer)
        .with(answer.header("x-warmpath-replica"), in.firstMillis(start));
  }

  @Override
  public void close() {
    connections.close();
  }

  private ChaosVerdict judge(Connections.Connection connection, Request request, HttpAnswer answer)
      throws IOException {
    if (answer.end() == HttpAnswer.End.WHOLE && connection.in().available() > 0) {
      connection.end(false);
      return Classifier.wrong("bytes behind the answer", answer);
    }
    if (request.behaviour == ClientBehaviour.PATIENT && answer.keepsAlive()) {
      connections.keep(connection);
    } else {
      connection.end(false);
    }
    if (request.behaviour != ClientBehaviour.SILENT_MID_BODY) {
      return Classifier.judge(request.question, request.id, answer);
    }
    return Classifier.judgeHalf(answer);
  }

  /** Leaves after a while, with a reset every second time. */
  private ChaosVerdict leave(
      Connections.Connection connection, ClientBehaviour behaviour, Random random)
      throws IOException, InterruptedException {
    try {
      if (behaviour == ClientBehaviour.LEAVES_MID_STREAM && connection.in().read() < 0) {
        return ChaosVerdict.of(Kind.WRONG, "closed without an answer");
      }
      TimeUnit.MILLISECONDS.sleep(random.nextInt(MOST_PAUSE_MILLIS));
      return ChaosVerdict.of(Kind.LEFT, behaviour.name());
    } catch (SocketTimeoutException e) {
      return ChaosVerdict.of(Kind.HUNG, "no first byte");
    } finally {
      connection.end(random.nextBoolean());
    }
  }

  /**
   * Reads byte by byte, with pauses if the reader is to be slow, and notes when the first one came.
   *
   * <p>Confined to one thread.
   */
  static final class PacedStream extends FilterInputStream {

    private static final int BYTES_TO_A_PAUSE = 1_024;
    private static final long PAUSE_MILLIS = 120;

    private final boolean slow;
    private long bytes;
    private long firstNanos;

    PacedStream(InputStream in, boolean slow) {
      super(in);
      this.slow = slow;
    }

    @Override
    public int read() throws IOException {
      int next = super.read();
      if (next >= 0 && bytes++ == 0) {
        firstNanos = System.nanoTime();
      }
      if (slow && bytes % BYTES_TO_A_PAUSE == 0) {
        pause();
      }
      return next;
    }

    @Override
    public int read(byte[] to, int offset, int length) throws IOException {
      int next = length == 0 ? 0 : read();
      if (next >= 0 && length > 0) {
        to[offset] = (byte) next;
      }
      return next < 0 ? -1 : Math.min(length, 1);
    }

    /** From a moment to the first byte; negative if none came. */
    double firstMillis(long sinceNanos) {
      return bytes == 0 ? -1 : (firstNanos - sinceNanos) / 1e6;
    }

    private static void pause() throws IOException {
      try {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException();
      }
    }
  }

  /**
   * Connections to the router, and those of them that wait for another request.
   *
   * <p>Thread-safe.
   */
  static final class Connections implements AutoCloseable {

    private static final int SMALL_BUFFER_BYTES = 4_096;
    private static final int READ_BYTES = 1_024;
    private static final long MOST_IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final int port;
    private final int silenceMillis;
    private final ConcurrentLinkedDeque<Connection> idle = new ConcurrentLinkedDeque<>();

    /** One connection; {@code sinceNanos} is when it was opened or kept. */
    record Connection(Socket socket, InputStream in, long sinceNanos) {

      /** Closes it, or resets it. */
      void end(boolean reset) {
        try (Socket closing = socket) {
          if (reset) {
            closing.setSoLinger(true, 0);
          }
        } catch (IOException e) {
          // it is closed all the same
        }
      }
    }

    /**
     * @param port of the router, on the loopback interface
     * @param silenceMillis after which connecting or reading times out
     */
    Connections(int port, int silenceMillis) {
      this.port = port;
      this.silenceMillis = silenceMillis;
    }

    /** Keeps a connection for another request. */
    void keep(Connection connection) {
      idle.push(new Connection(connection.socket, connection.in, System.nanoTime()));
    }

    /** Closes those that are kept. */
    @Override
    public void close() {
      idle.forEach(connection -> connection.end(false));
      idle.clear();
    }

    /** One that was kept, or a new one. */
    Connection take() throws IOException {
      for (Connection kept = idle.poll(); kept != null; kept = idle.poll()) {
        if (System.nanoTime() - kept.sinceNanos < MOST_IDLE_NANOS) {
          return kept;
        }
        kept.end(false);
      }
      return open(false);
    }

    /** A new one; with a small buffer what is not read stays at the router. */
    Connection open(boolean smallBuffer) throws IOException {
      Socket socket = new Socket();
      if (smallBuffer) {
        socket.setReceiveBufferSize(SMALL_BUFFER_BYTES);
      }
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), silenceMillis);
      socket.setTcpNoDelay(true);
      socket.setSoTimeout(silenceMillis);
      InputStream in = new BufferedInputStream(socket.getInputStream(), READ_BYTES);
      return new Connection(socket, in, System.nanoTime());
    }
  }

  /** What a client does with its request and the answer. */
  enum ClientBehaviour {
    /** Sends all, reads all, and keeps the connection for another request. */
    PATIENT(false, true),
    /** Sends all and leaves before or after the answer begins, without reading. */
    LEAVES_EARLY(false, false),
    /** Reads the beginning of a stream and leaves. */
    LEAVES_MID_STREAM(false, false),
    /** Reads more slowly than the engine writes. */
    READS_SLOWLY(true, true),
    /** Reads nothing for longer than any time limit, then all that is there. */
    STALLS(true, true),
    /** Sends half a body and leaves. */
    LEAVES_MID_BODY(false, false),
    /** Sends half a body and waits. */
    SILENT_MID_BODY(false, true);

    private final boolean longAnswer;
    private final boolean judged;

    ClientBehaviour(boolean longAnswer, boolean judged) {
      this.longAnswer = longAnswer;
      this.judged = judged;
    }

    /** Whether it asks for an answer that does not fit the buffers on its way. */
    boolean wantsLongAnswer() {
      return longAnswer;
    }

    /** Whether it stays to the end of the answer. */
    boolean isJudged() {
      return judged;
    }

    boolean sendsHalf() {
      return this == LEAVES_MID_BODY || this == SILENT_MID_BODY;
    }
  }
}
