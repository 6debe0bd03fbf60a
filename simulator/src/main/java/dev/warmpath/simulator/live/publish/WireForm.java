package dev.warmpath.simulator.live.publish;

/** How events are written: the form changed between vLLM's releases. Immutable. */
public enum WireForm {
  /** Positional arrays and two-frame replay answers, as vLLM to 0.22 and SGLang. */
  ARRAY,
  /** Tagged maps and three-frame replay answers, as vLLM since 0.26. */
  MAP
}
