package dev.warmpath.tokenizer.encode;

import java.util.Arrays;

/**
 * How many characters of an ASCII text each token stands for.
 *
 * <p>Byte-level tokenizers write each byte as one character, the others write a blank as one
 * character, so it is the length of the token as the file spells it; but for bytes that stand for
 * unknown characters.
 */
final class TokenLengths {

  private static final int UNKNOWN = -1;

  private final int[] charsById;

  private TokenLengths(int[] charsById) {
    this.charsById = charsById;
  }

  static TokenLengths of(TokenizerShape shape) {
    int largest = shape.vocabulary().values().stream().mapToInt(id -> id).max().orElse(-1);
    int[] chars = new int[largest + 1];
    Arrays.fill(chars, UNKNOWN);
    boolean bytes = shape.model().path("byte_fallback").asBoolean();
    String unknown = shape.model().path("unk_token").asText("");
    shape
        .vocabulary()
        .forEach((token, id) -> {
          if (id >= 0 && !token.equals(unknown)) {
            chars[id] = bytes && token.startsWith("<0x") ? 1 : token.length();
          }
        });
    return new TokenLengths(chars);
  }

  /** The characters of token {@code id}, negative if they are not known. */
  int chars(int id) {
    return id < charsById.length ? charsById[id] : UNKNOWN;
  }

  /** Whether the tokens stand for {@code chars} characters together. */
  boolean add(int[] tokenIds, int chars) {
    int sum = 0;
    for (int id : tokenIds) {
      int more = chars(id);
      if (more < 0) {
        return false;
      }
      sum += more;
    }
    return sum == chars;
  }
}
