package dev.warmpath.router.tokenize;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Where two token lists differ first, with what stands around. It holds text of a prompt: for an
 * operator to look at, not for logs.
 *
 * <p>Immutable.
 *
 * @param replica the replica whose engine answered
 * @param where what was compared: {@code probe}, {@code sample} or {@code miscount}
 * @param index of the first token that differs
 * @param ours how many tokens were found here
 * @param engines how many the engine found
 * @param ourTokens from a little before {@code index} to a little behind it
 * @param engineTokens the engine's there
 */
public record TokenDifference(
    String replica,
    String where,
    int index,
    int ours,
    int engines,
    List<Token> ourTokens,
    List<Token> engineTokens) {

  private static final int CONTEXT = 5;

  /** A token id and its text. */
  public record Token(int id, String text) {}

  public TokenDifference {
    ourTokens = List.copyOf(ourTokens);
    engineTokens = List.copyOf(engineTokens);
  }

  static TokenDifference of(
      String replica, String where, int[] ours, int[] engines, ModelTokenizer tokenizer) {
    int index = Arrays.mismatch(ours, engines);
    return new TokenDifference(
        replica,
        where,
        index,
        ours.length,
        engines.length,
        around(index, ours, tokenizer),
        around(index, engines, tokenizer));
  }

  private static List<Token> around(int index, int[] ids, ModelTokenizer tokenizer) {
    List<Token> tokens = new ArrayList<>();
    int end = Math.min(ids.length, index + CONTEXT + 1);
    for (int i = Math.max(0, index - CONTEXT); i < end; i++) {
      tokens.add(new Token(ids[i], text(ids[i], tokenizer)));
    }
    return tokens;
  }

  /** An engine may name ids that this tokenizer does not have. */
  private static String text(int id, ModelTokenizer tokenizer) {
    try {
      return id > tokenizer.maxTokenId() ? "" : tokenizer.decode(new int[] {id});
    } catch (RuntimeException e) {
      return "";
    }
  }
}
