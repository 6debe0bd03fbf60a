package dev.warmpath.kvindex.enginehash;

/** How vLLM turns a block into bytes before SHA-256. Immutable. */
public enum HashAlgorithm {
  /** {@code sha256}: the bytes of Python's pickle, protocol 5; vLLM's default. */
  SHA256,
  /** {@code sha256_cbor}: canonical CBOR. */
  SHA256_CBOR;

  ObjectWriter writer() {
    return this == SHA256 ? new PickleWriter() : new CborWriter();
  }
}
