package dev.warmpath.router.prompt;

import dev.warmpath.tokenizer.RequestKind;

/**
 * Sees what was read before its request is dispatched. Called on the pool's threads and event
 * loops; implementations are fast and throw nothing.
 *
 * <p>Thread-safe.
 */
@FunctionalInterface
public interface BodyWatch {

  /** Ignores everything. */
  BodyWatch NONE = (kind, body, read) -> {};

  /** This was read from {@code body}, which is not to be changed. */
  void read(RequestKind kind, byte[] body, ReadRequest read);
}
