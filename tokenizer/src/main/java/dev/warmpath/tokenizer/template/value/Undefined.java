package dev.warmpath.tokenizer.template.value;

import dev.warmpath.tokenizer.template.syntax.TemplateException;
import org.jspecify.annotations.Nullable;

/**
 * What a missing variable, attribute or item evaluates to: prints as nothing, is false, empty, and
 * equal to its like; anything else done with it raises.
 */
public final class Undefined {
  private final @Nullable String owner;
  private final Object name;

  private Undefined(@Nullable String owner, Object name) {
    this.owner = owner;
    this.name = name;
  }

  /** With the whole message of the error that its use raises. */
  public static Undefined because(String message) {
    return new Undefined(null, message);
  }

  public static Undefined variable(String name) {
    return because("'" + name + "' is undefined");
  }

  /** A missing attribute or item of a value. */
  public static Undefined member(Object owner, Object name) {
    return new Undefined(owner == None.NONE ? "None" : Values.typeName(owner) + " object", name);
  }

  public TemplateException failure() {
    if (owner == null) {
      return TemplateException.raised(name.toString());
    }
    return TemplateException.raised(
        name instanceof String
            ? "'" + owner + "' has no attribute '" + name + "'"
            : owner + " has no element " + name);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Undefined;
  }

  @Override
  public int hashCode() {
    return 1;
  }

  /** As {@code repr} gives it. */
  @Override
  public String toString() {
    return "Undefined";
  }
}
