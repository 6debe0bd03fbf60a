package dev.warmpath.tokenizer.template.syntax;

import java.util.List;
import java.util.function.Consumer;

/** A node of a template's tree. */
public sealed interface Node permits Expression, Statement, Arguments, Signature {

  /** What stands directly beneath, in reading order. */
  List<? extends Node> children();

  /** Calls {@code visitor} for this node and every one below it. */
  default void walk(Consumer<? super Node> visitor) {
    visitor.accept(this);
    for (Node child : children()) {
      child.walk(visitor);
    }
  }
}
