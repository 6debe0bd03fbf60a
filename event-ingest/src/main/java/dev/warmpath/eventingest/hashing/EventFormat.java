package dev.warmpath.eventingest.hashing;

/** SGLang's {@code format} of the event stream. */
public enum EventFormat {
  /** A request's {@code extra_key} shows in hashes of adapters only. */
  DEFAULT,
  /** A request's {@code extra_key} and salt show in every hash. */
  DYNAMO
}
