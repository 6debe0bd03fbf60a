package dev.warmpath.eventingest.knowledge;

import dev.warmpath.eventingest.Trust;
import dev.warmpath.eventingest.TrustState;
import java.time.Clock;
import org.jspecify.annotations.Nullable;

/**
 * Whether all that an engine holds is known, and what trust follows from that.
 *
 * <p>Confined to the writer; {@link #trust} may be read by any thread.
 */
final class Belief {

  private final Clock clock;
  private volatile TrustState trust;
  private boolean complete;
  private String why = "";

  Belief(Clock clock) {
    this.clock = clock;
    trust = new TrustState(Trust.NONE, "not connected yet", clock.instant());
  }

  TrustState trust() {
    return trust;
  }

  /** Nothing was missed since the engine held nothing. */
  void complete() {
    complete = true;
  }

  /** Something was missed, or may have been. */
  void incomplete(String why) {
    complete = false;
    this.why = why;
  }

  boolean isComplete() {
    return complete;
  }

  /** Why something is missing. */
  String why() {
    return why;
  }

  /**
   * Draws the conclusion.
   *
   * @param started whether a batch of this lifetime was applied
   * @param repairing why a replay runs that may bring what is missing, or null if none does
   */
  void settle(boolean started, boolean connected, @Nullable String repairing) {
    if (repairing != null) {
      set(Trust.CATCHING_UP, repairing);
    } else if (!started && !complete) {
      set(Trust.NONE, connected ? "nothing heard yet" : "not connected");
    } else if (!connected) {
      set(Trust.SUSPECT, "connection lost");
    } else if (complete) {
      set(Trust.EXACT, "complete");
    } else {
      set(Trust.SUSPECT, why);
    }
  }

  /** What is known comes from another process, and nobody has vouched for it yet. */
  void unproven() {
    set(Trust.CATCHING_UP, "restored, not proven yet");
  }

  /** Nobody will say any more what is known. */
  void abandon(String why) {
    set(Trust.NONE, why);
  }

  private void set(Trust now, String reason) {
    TrustState before = trust;
    if (before.trust() != now || !before.reason().equals(reason)) {
      trust = new TrustState(now, reason, clock.instant());
    }
  }
}
