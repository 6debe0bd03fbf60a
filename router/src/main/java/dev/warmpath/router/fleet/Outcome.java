package dev.warmpath.router.fleet;

/** How a dispatched request ended. Immutable. */
public enum Outcome {
  /** The last byte came. */
  COMPLETED,
  /** The client went away, or an engine that is alive took too long; the engine was told. */
  CANCELLED,
  /** The engine refused the request before computing anything; it is not ill. */
  REFUSED,
  /** It takes no requests now (503): it is full, paused, or retired. */
  UNAVAILABLE,
  /** No connection, a broken stream, or an error of the engine's own. */
  FAILED
}
