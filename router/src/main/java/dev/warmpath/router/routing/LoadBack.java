package dev.warmpath.router.routing;

/**
 * Whether an engine reads back what only its slower memory holds of a prompt, where it can be told
 * not to; other engines always do.
 */
public enum LoadBack {
  /** If computing it again costs more. */
  CHEAPEST,
  ALWAYS,
  NEVER
}
