package dev.warmpath.simulator.cli;

import dev.warmpath.eventingest.capture.CaptureException;
import dev.warmpath.eventingest.capture.CaptureOpener;
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

  /** Opens a file that a command was given. */
  public static CaptureReader open(Path file) {
    return open(file, CaptureReader::open);
  }

  /** Opens a file that a command was given in its own way. */
  public static CaptureReader open(Path file, CaptureOpener opener) {
    try {
      return opener.open(file);
    } catch (IOException e) {
      throw failure(file, e);
    }
  }

  /** What to tell whoever named {@code file}, or another one that the cause names. */
  public static CommandException failure(Path file, IOException cause) {
    if (cause instanceof CaptureException) {
      return CommandException.failed(String.valueOf(cause.getMessage()));
    }
    if (cause instanceof NoSuchFileException missing) {
      return CommandException.failed(missing.getFile() + ": no such file");
    }
    if (cause instanceof FileAlreadyExistsException existing) {
      return CommandException.failed(existing.getFile() + ": exists already");
    }
    return CommandException.failed(file + ": " + cause);
  }
}
