package dev.warmpath.tokenizer.train;

/** One learnt rule: these two tokens become one. */
record Merge(String left, String right) {}
