package dev.warmpath.kvindex;

/** What an engine's announcements of the same block mean. */
public enum CopyCounting {
  /**
   * vLLM: each physical copy is announced and removed, so a block is gone when as many removals as
   * stores came.
   */
  PER_COPY,
  /** SGLang: a block is present or not, however often it was announced. */
  PRESENCE
}
