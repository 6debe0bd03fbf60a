package dev.warmpath.router;

/**
 * The process could not start: a port is taken, a tokenizer cannot be read, an endpoint is wrong.
 *
 * <p>Immutable.
 */
public final class StartException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  StartException(String message) {
    super(message);
  }

  StartException(String message, Throwable cause) {
    super(message, cause);
  }
}
