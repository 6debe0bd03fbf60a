package dev.warmpath.lab.chaos;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;

/**
 * A name server (RFC 1035, by UDP) that knows one name, has it at 127.0.0.1, and can stop to
 * answer.
 *
 * <p>Thread-safe.
 */
final class DayNames implements AutoCloseable {

  static final String NAME = "engines.day.";

  private static final int HEADER_BYTES = 12;
  private static final int ANSWER = 0x8480; // a response, with authority, recursion available
  private static final int SERVFAIL = 2;
  private static final int TYPE_A = 1;
  private static final int CLASS_IN = 1;
  private static final int TTL_SECONDS = 1;

  /** What it does with a question. */
  enum Mood {
    ANSWERING,
    /** Answers SERVFAIL. */
    FAILING,
    SILENT
  }

  private final DatagramSocket socket;
  private volatile Mood mood = Mood.ANSWERING;

  DayNames() throws IOException {
    socket = new DatagramSocket(0, InetAddress.getLoopbackAddress());
    Thread thread = new Thread(this::serve, "day-names");
    thread.setDaemon(true);
    thread.start();
  }

  int port() {
    return socket.getLocalPort();
  }

  void mood(Mood next) {
    mood = next;
  }

  @Override
  public void close() {
    socket.close();
  }

  private void serve() {
    byte[] bytes = new byte[512];
    try {
      while (true) {
        DatagramPacket packet = new DatagramPacket(bytes, bytes.length);
        socket.receive(packet);
        if (mood != Mood.SILENT && packet.getLength() > HEADER_BYTES) {
          byte[] answer = answer(ByteBuffer.wrap(bytes, 0, packet.getLength()));
          socket.send(new DatagramPacket(answer, answer.length, packet.getSocketAddress()));
        }
      }
    } catch (IOException e) {
      if (!socket.isClosed()) {
        throw new UncheckedIOException(e);
      }
    }
  }

  private byte[] answer(ByteBuffer question) {
    int end = HEADER_BYTES;
    while (question.get(end) != 0) {
      end += question.get(end) + 1;
    }
    int type = question.getShort(end + 1);
    end += 5;
    boolean known = type == TYPE_A && mood == Mood.ANSWERING;
    ByteBuffer answer = ByteBuffer.allocate(end + 16);
    answer.putShort(question.getShort(0));
    answer.putShort((short) (mood == Mood.FAILING ? ANSWER | SERVFAIL : ANSWER));
    answer.putShort((short) 1).putShort((short) (known ? 1 : 0)).putInt(0);
    answer.put(question.slice(HEADER_BYTES, end - HEADER_BYTES));
    if (known) {
      answer.putShort((short) (0xc000 | HEADER_BYTES)).putShort((short) TYPE_A);
      answer.putShort((short) CLASS_IN).putInt(TTL_SECONDS).putShort((short) 4);
      answer.put(new byte[] {127, 0, 0, 1});
    }
    byte[] bytes = new byte[answer.position()];
    answer.flip().get(bytes);
    return bytes;
  }
}
