package dev.warmpath.tokenizer.body;

import com.fasterxml.jackson.databind.node.ObjectNode;

/**
 * In which name space of an engine the blocks of a request are. Some engines' events do not tell,
 * so it must be known of every request, also of those whose prompt cannot be read.
 *
 * <p>Immutable.
 */
public enum RequestNamespace {
  /** In the one of all prompts. */
  PLAIN,
  /** In that of an adapter or a salt. */
  KEYED,
  /** In that of SGLang's {@code extra_key}. */
  EXTRA_KEY,
  /** Nobody could tell: it may be in any. */
  ANY;

  /**
   * Of a body that was read.
   *
   * @param adapter whether the model that it names is an adapter, or may be one
   */
  public static RequestNamespace of(ObjectNode body, boolean adapter) {
    boolean keyed = adapter || body.hasNonNull("cache_salt") || body.hasNonNull("lora_path");
    if (body.hasNonNull("extra_key")) {
      return keyed ? ANY : EXTRA_KEY;
    }
    return keyed ? KEYED : PLAIN;
  }
}
