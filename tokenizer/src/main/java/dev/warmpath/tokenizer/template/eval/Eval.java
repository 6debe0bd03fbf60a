package dev.warmpath.tokenizer.template.eval;

import dev.warmpath.tokenizer.template.op.Text;
import dev.warmpath.tokenizer.template.output.Output;

/** A compiled expression. */
interface Eval {

  Object eval(Frame frame);

  /** Writes the value's text, in one go where that saves a copy. */
  default void write(Frame frame, Output out) {
    out.append(Text.of(frame.budget(), eval(frame)));
  }
}
