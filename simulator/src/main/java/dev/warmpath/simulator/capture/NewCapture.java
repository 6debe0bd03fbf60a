package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureSink;
import dev.warmpath.eventingest.capture.CaptureWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A capture that is written in whole or not there: what fails half-way leaves no file behind. */
final class NewCapture {

  /** Writes the records. */
  interface Body {

    /** Returns how many it wrote. */
    long write(CaptureSink to) throws IOException;
  }

  private NewCapture() {}

  /**
   * Writes a file; returns how many records.
   *
   * @throws java.nio.file.FileAlreadyExistsException when there is such a file: it is left alone
   */
  static long write(Path file, CaptureHeader header, Body body) throws IOException {
    CaptureWriter writer = CaptureWriter.create(file, header);
    boolean whole = false;
    try (writer) {
      long records = body.write(writer);
      whole = true;
      return records;
    } finally {
      if (!whole) {
        Files.deleteIfExists(file);
      }
    }
  }
}
