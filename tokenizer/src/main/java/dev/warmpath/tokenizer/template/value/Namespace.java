package dev.warmpath.tokenizer.template.value;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Jinja2's {@code namespace}: attributes that can be assigned from any scope.
 *
 * <p>Confined to the thread of its render.
 */
public record Namespace(Map<String, Object> attributes) {

  public Namespace {
    attributes = new LinkedHashMap<>(attributes);
  }

  /** Its identity: namespaces are equal only to themselves. */
  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
