package dev.warmpath.eventingest.capture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;

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
  private final long maxBytes;
  private final int keep;
  private final Deque<Path> written = new ArrayDeque<>();
  private CaptureWriter current;
  private int number;

  private RotatingCaptureWriter(Path file, CaptureHeader header, long maxBytes, int keep)
      throws IOException {
    this.file = file;
    this.header = header;
    this.maxBytes = maxBytes;
    this.keep = keep;
    current = next();
  }

  /**
   * Creates the first file.
   *
   * @param maxBytes a file that has so many, before compression, is followed by another
   * @param keep how many files are kept, the one being written included; at least 1
   */
  public static RotatingCaptureWriter create(
      Path file, CaptureHeader header, long maxBytes, int keep) throws IOException {
    if (maxBytes < 1 || keep < 1) {
      throw new IllegalArgumentException("maxBytes=" + maxBytes + " keep=" + keep);
    }
    return new RotatingCaptureWriter(file, header, maxBytes, keep);
  }

  @Override
  public void write(CaptureRecord record) throws IOException {
    if (current.bytes() >= maxBytes) {
      current.close();
      current = next();
      while (written.size() > keep) {
        Files.deleteIfExists(written.removeFirst());
      }
    }
    current.write(record);
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
    return writer;
  }

  private static String numbered(String name, int number) {
    int end = name.indexOf(".wpc");
    int at = end < 0 ? name.length() : end;
    return name.substring(0, at) + "-%05d".formatted(number) + name.substring(at);
  }
}
