package dev.warmpath.simulator.live;

/** How events are written: the form changed between vLLM's releases. */
public enum WireForm {
  /** Positional arrays and two-frame replay answers, as vLLM to 0.22. */
  ARRAY,
  /** Tagged maps and three-frame replay answers, as vLLM since 0.26. */
  MAP,
  /** Those of SGLang: tagged maps and three-frame replay answers, its hashes and no groups. */
  SGLANG,
  /** The same with its {@code "format": "dynamo"}: hashes show a request's {@code extra_key}. */
  SGLANG_DYNAMO;

  /** Whether the engine is to pass for an SGLang. */
  public boolean isSglang() {
    return this == SGLANG || this == SGLANG_DYNAMO;
  }
}
