package dev.warmpath.eventingest.hashing;

/**
 * How one SGLang engine was started, as far as its events do not say and hits depend on it.
 *
 * @param namespaces what its hashes show
 * @param loadBackTokens hits on the host shorter than this stay there ({@code load_back_threshold})
 */
public record SglangRules(SglangNamespaces namespaces, int loadBackTokens) {

  /** SGLang's own {@code load_back_threshold}. */
  public static final int LOAD_BACK_TOKENS = 10;

  /** Of an engine of which nobody said anything. */
  public static final SglangRules USUAL = new SglangRules(SglangNamespaces.PLAIN, LOAD_BACK_TOKENS);

  public SglangRules {
    if (loadBackTokens < 0) {
      throw new IllegalArgumentException("loadBackTokens=" + loadBackTokens);
    }
  }
}
