package dev.warmpath.eventingest.snapshot.file;

import java.io.IOException;
import java.nio.file.Path;

/** Another router keeps its snapshots in the directory. */
public final class DirectoryInUseException extends IOException {

  private static final long serialVersionUID = 1L;

  DirectoryInUseException(Path directory, String process) {
    super(directory + " is in use by another router, process " + process);
  }
}
