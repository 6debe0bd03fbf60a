package dev.warmpath.router.cli.replay;

import dev.warmpath.eventingest.capture.CaptureException;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.router.cli.CommandException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Opens the capture files that commands are given, with errors that name the file.
 *
 * <p>Thread-safe.
 */
final class CaptureFiles {

  private CaptureFiles() {}

  static CaptureReader open(Path file) {
    try {
      return CaptureReader.open(file);
    } catch (IOException e) {
      throw failure(file, e);
    }
  }

  /** What to tell whoever named {@code file}. */
  static CommandException failure(Path file, IOException cause) {
    if (cause instanceof CaptureException) {
      return CommandException.failed(String.valueOf(cause.getMessage()));
    }
    if (cause instanceof NoSuchFileException) {
      return CommandException.failed(file + ": no such file");
    }
    if (cause instanceof FileAlreadyExistsException) {
      return CommandException.failed(file + ": exists already");
    }
    return CommandException.failed(file + ": " + cause);
  }
}
