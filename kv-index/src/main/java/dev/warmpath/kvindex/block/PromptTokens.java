package dev.warmpath.kvindex.block;

/** The tokens of a prompt, which need not stand in one place. Implementations are immutable. */
public interface PromptTokens {

  int count();

  /** A copy of the tokens {@code [from, to)}. */
  int[] range(int from, int to);
}
