package dev.warmpath.tokenizer.template;

import dev.warmpath.tokenizer.template.value.Text;

/** A compiled expression. */
interface Eval {

  Object eval(Frame frame);

  /** Writes the value's text, in one go where that saves a copy. */
  default void write(Frame frame, Output out) {
    out.append(Text.of(frame.budget(), eval(frame)));
  }
}
