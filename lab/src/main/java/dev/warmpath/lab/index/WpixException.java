package dev.warmpath.lab.index;

import java.io.IOException;

/**
 * A file is not what {@code docs/wpix.md} says; the message names the file, the offset and what is
 * wrong.
 *
 * <p>Immutable.
 */
final class WpixException extends IOException {

  private static final long serialVersionUID = 1L;

  WpixException(String message) {
    super(message);
  }
}
