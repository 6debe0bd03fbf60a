package dev.warmpath.eventingest;

import dev.warmpath.kvindex.CopyCounting;

/** Whose rules an engine's events follow; the wire format is recognised by what arrives. */
public enum EngineDialect {
  /** vLLM and all that speak like it: every physical copy is announced and removed. */
  VLLM(CopyCounting.PER_COPY),
  /**
   * SGLang: a page is present or not, pages of token pairs, salts and adapters as fields; {@code
   * extra_key} is not shown.
   */
  SGLANG(CopyCounting.PRESENCE),
  /**
   * TensorRT-LLM's push of events: a block is present or not; adapters and salts are not shown, nor
   * any window but the largest.
   */
  TRTLLM(CopyCounting.PRESENCE);

  private final CopyCounting removals;

  EngineDialect(CopyCounting removals) {
    this.removals = removals;
  }

  /** What a removal means where nobody says otherwise. */
  public CopyCounting removals() {
    return removals;
  }
}
