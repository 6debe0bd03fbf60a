package dev.warmpath.kvindex.enginehash;

/** How extra keys go into the hash. */
public enum HashedKeys {
  /** Since vLLM 0.32: each key is a tuple that begins with its kind; adapters bring their path. */
  TAGGED,
  /** vLLM 0.19 to 0.26: bare values. */
  UNTAGGED
}
