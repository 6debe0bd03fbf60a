package dev.warmpath.eventingest.capture;

import java.io.IOException;

/**
 * A file is not a capture, or is damaged other than by being cut; the message names the file, the
 * record and the byte.
 */
public final class CaptureException extends IOException {

  private static final long serialVersionUID = 1L;

  public CaptureException(String message) {
    super(message);
  }

  public CaptureException(String message, Throwable cause) {
    super(message, cause);
  }
}
