package dev.warmpath.tokenizer.template;

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
