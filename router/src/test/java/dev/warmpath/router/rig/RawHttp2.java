package dev.warmpath.router.rig;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;

/** Frames of HTTP/2, one after the other, for a client that writes them by hand. */
public final class RawHttp2 {

  public static final String PREFACE = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

  private static final int CANCEL = 8;
  private static final int END_HEADERS = 4;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

  /** The beginning of a connection. */
  public static RawHttp2 connection() {
    RawHttp2 frames = new RawHttp2();
    frames.bytes.writeBytes(PREFACE.getBytes(US_ASCII));
    return frames.frame(4, 0, 0);
  }

  /** The head of a request, with more headers as names and values. */
  public RawHttp2 post(int stream, String path, String... headers) {
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    block.write(0x83); // POST
    block.write(0x86); // http
    block.write(1); // authority
    text(block, "x");
    block.write(4); // path
    text(block, path);
    for (int i = 0; i < headers.length; i++) {
      if (i % 2 == 0) {
        block.write(0);
      }
      text(block, headers[i]);
    }
    return frame(1, END_HEADERS, stream, block.toByteArray());
  }

  private static void text(ByteArrayOutputStream block, String text) {
    block.write(text.length());
    block.writeBytes(text.getBytes(US_ASCII));
  }

  public RawHttp2 data(int stream, String text) {
    return frame(0, 0, stream, text.getBytes(US_ASCII));
  }

  public RawHttp2 reset(int stream) {
    return frame(3, 0, stream, (byte) 0, (byte) 0, (byte) 0, (byte) CANCEL);
  }

  public RawHttp2 frame(int type, int flags, int stream, byte... payload) {
    for (int shift = 16; shift >= 0; shift -= 8) {
      bytes.write(payload.length >> shift);
    }
    bytes.write(type);
    bytes.write(flags);
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.write(stream >> shift);
    }
    bytes.writeBytes(payload);
    return this;
  }

  public byte[] bytes() {
    return bytes.toByteArray();
  }
}
