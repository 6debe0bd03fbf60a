package dev.warmpath.simulator.trace;

/** A trace that cannot be read; the message says which file, which line and why. */
public final class TraceException extends Exception {

  private static final long serialVersionUID = 1L;

  public TraceException(String message) {
    super(message);
  }
}
