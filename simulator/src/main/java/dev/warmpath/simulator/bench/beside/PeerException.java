package dev.warmpath.simulator.bench.beside;

import java.io.IOException;

/**
 * A peer's program is not there, failed, or printed something unexpected; the message says which
 * and what.
 *
 * <p>Immutable.
 */
public final class PeerException extends IOException {

  private static final long serialVersionUID = 1L;

  PeerException(String message) {
    super(message);
  }
}
