package dev.warmpath.eventingest;

import dev.warmpath.kvindex.CopyCounting;

/**
 * Whose rules an engine's events follow; the wire format is recognised by what arrives. Immutable.
 */
public enum EngineDialect {
  /** vLLM and all that speak like it: every physical copy is announced and removed. */
  VLLM(CopyCounting.PER_COPY, false),
  /**
   * SGLang: a page is present or not, pages of token pairs, salts and adapters as fields; {@code
   * extra_key} is not shown.
   */
  SGLANG(CopyCounting.PRESENCE, true),
  /**
   * TensorRT-LLM's push of events: a block is present or not; adapters and salts are not shown, nor
   * any window but the largest.
   */
  TRTLLM(CopyCounting.PRESENCE, true);

  private final CopyCounting removals;
  private final boolean hidesNamespaces;

  EngineDialect(CopyCounting removals, boolean hidesNamespaces) {
    this.removals = removals;
    this.hidesNamespaces = hidesNamespaces;
  }

  /** What a removal means where nobody says otherwise. */
  public CopyCounting removals() {
    return removals;
  }

  /** Whether its events show neither adapters nor salts. */
  public boolean hidesKeys() {
    return this == TRTLLM;
  }

  /** Whether there are requests whose name space its events do not show. */
  public boolean hidesNamespaces() {
    return hidesNamespaces;
  }
}
