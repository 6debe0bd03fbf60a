package dev.warmpath.eventingest.capture;

import java.io.IOException;
import java.nio.file.Path;

/**
 * Opens capture files, for whoever wants to see what is read.
 *
 * <p>Confined to the thread that reads.
 */
public interface CaptureOpener {

  /** Opens a file and reads its header. */
  CaptureReader open(Path file) throws IOException;
}
