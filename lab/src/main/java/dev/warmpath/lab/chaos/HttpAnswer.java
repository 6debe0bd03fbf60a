package dev.warmpath.lab.chaos;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * One HTTP/1.1 response as it came over a socket, whole or not.
 *
 * @param status 0 if no whole head came
 * @param headers names in lower case
 * @param body what came of it, without its framing
 * @param detail what is malformed, or how it was cut
 */
record HttpAnswer(End end, int status, Map<String, String> headers, String body, String detail) {

  /** How it ended. */
  enum End {
    /** As its framing says. */
    WHOLE,
    /** By a close or a reset before that. */
    CUT,
    /** Not at all: nothing came for too long. */
    SILENT,
    /** In bytes that are no HTTP. */
    MALFORMED
  }

  HttpAnswer {
    headers = Map.copyOf(headers);
  }

  /** Reads one response; a read that times out makes it silent. */
  static HttpAnswer read(InputStream in) {
    return new AnswerReader(in).read();
  }

  String header(String name) {
    return headers.getOrDefault(name, "");
  }

  /** Whether the connection may be used for another request. */
  boolean keepsAlive() {
    return end == End.WHOLE && !header("connection").equalsIgnoreCase("close");
  }

  /**
   * Reads one HTTP/1.1 response byte by byte, and forgives nothing.
   *
   * <p>Confined to one thread; reads once.
   */
  static final class AnswerReader {

    /** Bytes that are no HTTP. */
    private static final class MalformedException extends IOException {
      private static final long serialVersionUID = 1L;

      MalformedException(String message) {
        super(message);
      }
    }

    private static final int LONGEST_LINE = 16_384;

    private final InputStream in;
    private final Map<String, String> headers = new TreeMap<>();
    private final ByteArrayOutputStream body = new ByteArrayOutputStream();
    private int status;

    AnswerReader(InputStream in) {
      this.in = in;
    }

    HttpAnswer read() {
      try {
        head();
        body();
        return ended(HttpAnswer.End.WHOLE, "");
      } catch (MalformedException e) {
        return ended(HttpAnswer.End.MALFORMED, String.valueOf(e.getMessage()));
      } catch (SocketTimeoutException e) {
        return ended(HttpAnswer.End.SILENT, String.valueOf(e.getMessage()));
      } catch (IOException e) {
        return ended(HttpAnswer.End.CUT, String.valueOf(e.getMessage()));
      }
    }

    private HttpAnswer ended(HttpAnswer.End end, String detail) {
      return new HttpAnswer(end, status, headers, body.toString(UTF_8), detail);
    }

    private void head() throws IOException {
      String first = line();
      if (!first.matches("HTTP/1\\.1 \\d{3} .*")) {
        throw new MalformedException("status line '" + first + "'");
      }
      for (String line = line(); !line.isEmpty(); line = line()) {
        int colon = line.indexOf(':');
        if (colon < 1) {
          throw new MalformedException("header '" + line + "'");
        }
        headers.put(
            line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      }
      status = Integer.parseInt(first.substring(9, 12));
    }

    private void body() throws IOException {
      String length = headers.get("content-length");
      if ("chunked".equals(headers.get("transfer-encoding")) && length == null) {
        chunks();
      } else if (length != null && length.matches("\\d{1,9}")) {
        take(Integer.parseInt(length));
      } else {
        throw new MalformedException("no framing: " + headers);
      }
    }

    private void chunks() throws IOException {
      int size;
      do {
        String line = line();
        if (!line.matches("[0-9a-fA-F]{1,7}")) {
          throw new MalformedException("chunk size '" + line + "'");
        }
        size = Integer.parseInt(line, 16);
        take(size);
        if (!line().isEmpty()) {
          throw new MalformedException("bytes behind a chunk");
        }
      } while (size > 0);
    }

    private void take(int bytes) throws IOException {
      for (int i = 0; i < bytes; i++) {
        body.write(next());
      }
    }

    private String line() throws IOException {
      ByteArrayOutputStream line = new ByteArrayOutputStream();
      for (int next = next(); next != '\n'; next = next()) {
        line.write(next);
        if (line.size() > LONGEST_LINE) {
          throw new MalformedException("a line of more than " + LONGEST_LINE + " bytes");
        }
      }
      String text = line.toString(ISO_8859_1);
      if (!text.endsWith("\r")) {
        throw new MalformedException("a line without carriage return: '" + text + "'");
      }
      return text.substring(0, text.length() - 1);
    }

    private int next() throws IOException {
      int next = in.read();
      if (next < 0) {
        throw new EOFException("closed");
      }
      return next;
    }
  }
}
