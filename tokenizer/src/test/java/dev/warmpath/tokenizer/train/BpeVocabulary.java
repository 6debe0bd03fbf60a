package dev.warmpath.tokenizer.train;

import java.util.List;

/** What was learnt: the tokens by id, and the merges in the order in which they apply. */
public final class BpeVocabulary {

  private final List<String> tokens;
  private final List<Merge> merges;

  BpeVocabulary(List<String> tokens, List<Merge> merges) {
    this.tokens = List.copyOf(tokens);
    this.merges = List.copyOf(merges);
  }

  /** Number of tokens, the 256 bytes among them. */
  public int size() {
    return tokens.size();
  }

  List<String> tokens() {
    return tokens;
  }

  List<Merge> merges() {
    return merges;
  }
}
