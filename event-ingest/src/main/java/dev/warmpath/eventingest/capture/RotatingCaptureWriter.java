package dev.warmpath.eventingest.capture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.List;

/**
 * Writes a capture as a row of files, each whole in itself, and keeps the last ones.
 *
 * <p>{@code a.wpc.gz} becomes {@code a-00001.wpc.gz}, {@code a-00002.wpc.gz}, …; times go on from
 * one to the next.
 *
 * <p>Confined to its writer's thread.
 */
public final class RotatingCaptureWriter implements CaptureSink {

  private final Path file;
  private final CaptureHeader header;
  private final Limits limits;
  private final Deque<Path> written;
  private CaptureWriter current;
  private int number;

  /**
   * How large the row may get.
   *
   * @param maxBytes a file that has so many, before compression, is followed by another
   * @param keep how many files are kept, the one being written included; at least 1
   */
  public record Limits(long maxBytes, int keep) {
    public Limits {
      if (maxBytes < 1 || keep < 1) {
        throw new IllegalArgumentException("maxBytes=" + maxBytes + " keep=" + keep);
      }
    }
  }

  private RotatingCaptureWriter(
      Path file, CaptureHeader header, Limits limits, Collection<Path> earlier) throws IOException {
    this.file = file;
    this.header = header;
    this.limits = limits;
    written = new ArrayDeque<>(earlier);
    current = next();
  }

  /** Creates the first file. */
  public static RotatingCaptureWriter create(Path file, CaptureHeader header, Limits limits)
      throws IOException {
    return create(file, header, limits, List.of());
  }

  /**
   * Creates the first file of a row that goes on.
   *
   * @param earlier files of other writers, oldest first, that count and are deleted as its own
   */
  public static RotatingCaptureWriter create(
      Path file, CaptureHeader header, Limits limits, Collection<Path> earlier) throws IOException {
    return new RotatingCaptureWriter(file, header, limits, earlier);
  }

  @Override
  public void write(CaptureRecord record) throws IOException {
    if (current.bytes() >= limits.maxBytes()) {
      current.close();
      current = next();
    }
    current.write(record);
  }

  @Override
  public void flush() throws IOException {
    current.flush();
  }

  @Override
  public void close() throws IOException {
    current.close();
  }

  private CaptureWriter next() throws IOException {
    number++;
    Path numbered = file.resolveSibling(numbered(file.getFileName().toString(), number));
    CaptureWriter writer = CaptureWriter.create(numbered, header);
    written.addLast(numbered);
    while (written.size() > limits.keep()) {
      Files.deleteIfExists(written.removeFirst());
    }
    return writer;
  }

  private static String numbered(String name, int number) {
    int end = name.indexOf(".wpc");
    int at = end < 0 ? name.length() : end;
    return name.substring(0, at) + "-%05d".formatted(number) + name.substring(at);
  }
}
