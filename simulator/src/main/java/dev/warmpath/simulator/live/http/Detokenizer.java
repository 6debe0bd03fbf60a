package dev.warmpath.simulator.live.http;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.Arrays;

/**
 * Turns the tokens of one answer into text, piece by piece; half a character waits for its rest.
 *
 * <p>Confined to its event loop.
 */
final class Detokenizer {

  private final ModelTokenizer tokenizer;
  private int[] tokenIds = new int[64];
  private int length;
  private int sentCharacters;

  Detokenizer(ModelTokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /** Adds a token and returns the text that is complete now. */
  String add(int tokenId, boolean last) {
    if (length == tokenIds.length) {
      tokenIds = Arrays.copyOf(tokenIds, 2 * length);
    }
    tokenIds[length++] = tokenId;
    String text = tokenizer.decode(tokenIds());
    if (text.length() < sentCharacters || (!last && text.endsWith("\uFFFD"))) {
      return "";
    }
    String piece = text.substring(sentCharacters);
    sentCharacters = text.length();
    return piece;
  }

  int[] tokenIds() {
    return Arrays.copyOf(tokenIds, length);
  }

  int length() {
    return length;
  }
}
