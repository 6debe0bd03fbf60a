package dev.warmpath.tokenizer.template.value;

/** Python's {@code None}: null at the border, this one value within. */
public enum None {
  NONE
}
