package dev.warmpath.tokenizer.encode;

import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The added tokens of a tokenizer, found where the tokenizer finds them: leftmost first, then
 * longest; those of the text as given before those of the normalized text.
 *
 * <p>Only for tokenizers that either normalize nothing or have no token of the second kind.
 */
final class AddedTokens {

  /** No added tokens. */
  static final AddedTokens NONE = new AddedTokens(List.of());

  private final BitSet firstChars = new BitSet();
  private final TokenTrie asGiven;
  private final TokenTrie normalized;
  private final boolean anyNormalized;
  private final int longestChars;

  public AddedTokens(List<AddedToken> tokens) {
    tokens.forEach(token -> firstChars.set(token.content().charAt(0)));
    asGiven = TokenTrie.of(tokens.stream().filter(token -> !token.normalized()).toList());
    normalized = TokenTrie.of(tokens.stream().filter(AddedToken::normalized).toList());
    anyNormalized = tokens.stream().anyMatch(AddedToken::normalized);
    longestChars = tokens.stream().mapToInt(token -> token.content().length()).max().orElse(0);
  }

  /** Length of the longest token, 0 if there is none. */
  int longestChars() {
    return longestChars;
  }

  /**
   * The token that begins at {@code at} in {@code text}, which ends at {@code to}; null if none
   * does. {@code at} is not inside another token.
   */
  @Nullable AddedToken at(String text, int at, int to) {
    if (!firstChars.get(text.charAt(at))) {
      return null;
    }
    AddedToken found = asGiven.longest(text, at, to);
    return found == null && anyNormalized ? normalizedAt(text, at, to) : found;
  }

  /** What the first pass finds behind {@code at} ends the text of the second pass. */
  private @Nullable AddedToken normalizedAt(String text, int at, int to) {
    AddedToken found = normalized.longest(text, at, to);
    if (found == null) {
      return null;
    }
    int end = at + found.content().length();
    for (int i = at + 1; i < end; i++) {
      if (asGiven.longest(text, i, to) != null) {
        return normalized.longest(text, at, i);
      }
    }
    return found;
  }

  /** Finds the longest of some texts that begins at a place. */
  private static final class TokenTrie {

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
}
