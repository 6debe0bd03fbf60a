package dev.warmpath.eventingest;

/** How far the index may be believed for one engine, most first. */
public enum Trust {
  /** All that the engine announced in this lifetime is applied: credits are true and complete. */
  EXACT,
  /**
   * Something was lost or never heard. What the engine held before is suspended until the engine
   * shows that it still holds it: what is credited is held, but much that is held may not be
   * credited. Ends with the engine's next empty cache or a replay from its first batch. While the
   * connection is down, credits may be stale as well.
   */
  SUSPECT,
  /**
   * A replay runs: what was announced meanwhile is not applied yet, so credits may be stale until
   * it ends.
   */
  CATCHING_UP,
  /** Nothing was heard of the engine in this lifetime. */
  NONE
}
