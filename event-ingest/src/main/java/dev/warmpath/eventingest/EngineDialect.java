package dev.warmpath.eventingest;

/**
 * Whose rules an engine's events follow; the wire format is recognised by what arrives. Immutable.
 */
public enum EngineDialect {
  /** vLLM and all that speak like it: every physical copy is announced and removed. */
  VLLM,
  /** SGLang: a page is present or not, pages of token pairs, salts and adapters as fields. */
  SGLANG
}
