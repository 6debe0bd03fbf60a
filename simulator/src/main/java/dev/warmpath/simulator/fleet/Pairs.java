package dev.warmpath.simulator.fleet;

import dev.warmpath.router.fleet.KvTransfer;
import dev.warmpath.simulator.engine.Link;

/**
 * Which engines of a fleet compute prompts for others, and what it costs to hand them over.
 *
 * @param prefills the first so many engines only compute prompts, the others answer; if 0, each
 *     does both
 * @param rule when a request is split, as {@link PolicySpec#rule} reads it; empty if never, and no
 *     engine has a connector
 * @param link of each engine; a transfer takes its tokens' time of its sender's and its receiver's
 */
public record Pairs(int prefills, String rule, Link link) {

  /** Every engine serves its requests alone. */
  public static final Pairs NONE = new Pairs(0, "", Link.NONE);

  public Pairs {
    if (prefills < 0) {
      throw new IllegalArgumentException("prefills=" + prefills);
    }
  }

  /** Whether requests may be split. */
  public boolean isOn() {
    return !rule.isEmpty();
  }

  /** What an engine's replica says of itself. */
  KvTransfer transfer(int engine) {
    if (!isOn()) {
      return new KvTransfer(KvTransfer.Role.BOTH, KvTransfer.Connector.NONE, "", "", 0, 0, true);
    }
    KvTransfer.Role role = KvTransfer.Role.BOTH;
    if (prefills > 0) {
      role = engine < prefills ? KvTransfer.Role.PREFILL : KvTransfer.Role.DECODE;
    }
    return new KvTransfer(role, KvTransfer.Connector.NIXL, "", "", 0, 0, false);
  }

  @Override
  public String toString() {
    if (!isOn()) {
      return "whole";
    }
    return "%s, %s, %s".formatted(prefills == 0 ? "any pair" : prefills + " prefills", rule, link);
  }
}
