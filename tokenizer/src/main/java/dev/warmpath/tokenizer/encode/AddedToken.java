package dev.warmpath.tokenizer.encode;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A text that the tokenizer looks for before anything else and takes for one token.
 *
 * @param special whether it structures prompts, and is not just a piece of ordinary text
 * @param normalized whether it is looked for in the normalized text, not in the text as given
 * @param flagged whether it takes white space around it along
 * @param singleWord whether it counts only where a word begins and ends
 */
public record AddedToken(
    String content,
    int id,
    boolean special,
    boolean normalized,
    boolean flagged,
    boolean singleWord) {

  /** The id of what only parts texts. */
  public static final int NO_ID = -1;

  public AddedToken {
    if (content.isEmpty()) {
      throw new IllegalArgumentException("an added token without a text, id=" + id);
    }
  }

  /** The token that an element of {@code added_tokens} describes. */
  static AddedToken of(JsonNode node) {
    return new AddedToken(
        node.path("content").asText(),
        node.path("id").asInt(),
        node.path("special").asBoolean(),
        node.path("normalized").asBoolean(),
        node.path("lstrip").asBoolean() || node.path("rstrip").asBoolean(),
        node.path("single_word").asBoolean());
  }

  /** Whether stripping white space could take a part of this token away. */
  boolean bordersOnSpace() {
    return isSpace(content.charAt(0)) || isSpace(content.charAt(content.length() - 1));
  }

  private static boolean isSpace(char c) {
    return Character.isWhitespace(c) || Character.isSpaceChar(c) || c == '\u0085';
  }
}
