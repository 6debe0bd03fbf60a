package dev.warmpath.router.membership;

import dev.warmpath.router.config.ReplicaConfig;
import org.jspecify.annotations.Nullable;

/** Says whether a replica may be connected to. Implementations are thread-safe. */
@FunctionalInterface
public interface ReplicaCheck {

  /** Takes every replica. */
  ReplicaCheck ANY = (source, replica) -> null;

  /**
   * Judges a replica before anything connects to it.
   *
   * @param source where it was named
   * @return why it is refused, as a sentence for an operator; null if it may be there
   */
  @Nullable String refusal(String source, ReplicaConfig replica);
}
