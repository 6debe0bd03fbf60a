package dev.warmpath.router.fleet;

import org.jspecify.annotations.Nullable;

/**
 * What of a prompt an engine loads instead of computing it.
 *
 * @param host tokens that come from its CPU memory
 * @param disk tokens that come from its disk
 * @param store tokens that come from a store that it reads with others
 * @param pulled tokens that come from another engine
 * @param from that engine; null if nothing comes from one
 */
public record LoadedTokens(int host, int disk, int store, int pulled, @Nullable EngineState from) {

  public static final LoadedTokens NOTHING = new LoadedTokens(0, 0, 0, 0, null);

  int count() {
    return host + disk + store + pulled;
  }
}
