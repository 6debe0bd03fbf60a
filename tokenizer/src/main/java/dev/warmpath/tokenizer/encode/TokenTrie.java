package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import java.util.Collection;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Finds the longest of some texts that begins at a place. */
final class TokenTrie {

  private final char[] next;
  private final TokenTrie[] tries;
  private final @Nullable AddedToken token;

  private TokenTrie(char[] next, TokenTrie[] tries, @Nullable AddedToken token) {
    this.next = next;
    this.tries = tries;
    this.token = token;
  }

  static TokenTrie of(Collection<AddedToken> tokens) {
    Growing root = new Growing();
    for (AddedToken token : tokens) {
      Growing at = root;
      for (char c : token.content().toCharArray()) {
        at = at.next.computeIfAbsent(c, unused -> new Growing());
      }
      at.token = token;
    }
    return root.grown();
  }

  /** The longest token at {@code from} that ends at {@code to} or before. */
  @Nullable AddedToken longest(String text, int from, int to) {
    TokenTrie trie = this;
    AddedToken found = null;
    for (int i = from; i < to; i++) {
      int slot = Arrays.binarySearch(trie.next, text.charAt(i));
      if (slot < 0) {
        return found;
      }
      trie = trie.tries[slot];
      found = trie.token == null ? found : trie.token;
    }
    return found;
  }

  private static final class Growing {
    private final TreeMap<Character, Growing> next = new TreeMap<>();
    private @Nullable AddedToken token;

    TokenTrie grown() {
      char[] chars = new char[next.size()];
      TokenTrie[] tries = new TokenTrie[chars.length];
      int i = 0;
      for (var entry : next.entrySet()) {
        chars[i] = entry.getKey();
        tries[i++] = entry.getValue().grown();
      }
      return new TokenTrie(chars, tries, token);
    }
  }
}
