package dev.warmpath.tokenizer.encode;

import java.util.BitSet;
import java.util.List;
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
}
