package dev.warmpath.simulator.trace;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;

/** Reads recorded workloads; those whose name ends with {@code .gz} are unpacked. */
public final class TraceFile {

  private TraceFile() {}

  /**
   * Reads the first {@code limit} lines, or requests of a capture, of {@code file}; empty lines say
   * nothing.
   *
   * @throws TraceException if a line is not of the format, or there is none
   * @throws IOException if the file cannot be read; the message names it
   */
  public static Trace read(Path file, TraceFormat format, int limit)
      throws IOException, TraceException {
    TraceBuilder trace;
    try {
      TraceFormat.Lines lines = format.reader();
      trace =
          lines == null
              ? CaptureTrace.read(name(file, ".wpc"), file, limit)
              : lines(
                  file, new TraceBuilder(name(file, "."), format.blockSizeTokens()), lines, limit);
    } catch (NoSuchFileException e) {
      throw new IOException("no such file: " + file, e);
    }
    if (trace.requests() == 0) {
      throw new TraceException(file + ": no requests of the format '" + format.label() + "'");
    }
    return trace.build();
  }

  private static TraceBuilder lines(
      Path file, TraceBuilder trace, TraceFormat.Lines lines, int limit)
      throws IOException, TraceException {
    try (BufferedReader reader = open(file)) {
      String line = reader.readLine();
      for (int number = 1; line != null && number <= limit; number++) {
        try {
          if (!line.isBlank()) {
            lines.line(line, trace);
          }
        } catch (IllegalArgumentException e) {
          throw new TraceException(file + ": line " + number + ": " + e.getMessage());
        }
        line = reader.readLine();
      }
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException(file + ": " + e.getMessage(), e);
    }
    try {
      lines.end(trace);
    } catch (IllegalArgumentException e) {
      throw new TraceException(file + ": " + e.getMessage());
    }
    return trace;
  }

  /** The file's name up to {@code end}. */
  private static String name(Path file, String end) {
    String name = String.valueOf(file.getFileName());
    int at = name.indexOf(end);
    return at > 0 ? name.substring(0, at) : name;
  }

  static BufferedReader open(Path file) throws IOException {
    InputStream bytes = Files.newInputStream(file);
    try {
      InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(bytes) : bytes;
      return new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8));
    } catch (IOException e) {
      bytes.close();
      throw e;
    }
  }
}
