package dev.warmpath.tokenizer.template.value;

import org.jspecify.annotations.Nullable;

/**
 * A value with attributes of its own: a loop, a macro, a cycler.
 *
 * <p>Confined to one rendering.
 */
public interface Attributes {

  /** The attribute, or null when there is none of this name. */
  @Nullable Object attribute(String name);
}
