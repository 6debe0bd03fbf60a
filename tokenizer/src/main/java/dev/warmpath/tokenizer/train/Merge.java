package dev.warmpath.tokenizer.train;

/**
 * One learnt rule: these two tokens become one.
 *
 * <p>Immutable.
 */
record Merge(String left, String right) {}
