package dev.warmpath.tokenizer.template.eval;

import dev.warmpath.tokenizer.template.output.Output;

/** A compiled statement. */
interface Exec {

  /** How a statement ends. */
  enum Exit {
    NORMAL,
    BREAK,
    CONTINUE
  }

  Exit run(Frame frame, Output out);
}
