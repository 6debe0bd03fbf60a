package dev.warmpath.simulator.live;

import dev.warmpath.tokenizer.ModelTokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

/**
 * Makes up answers: plain sentences that depend on the prompt alone, so that every engine answers
 * alike and the next turn of a chat tokenizes to what was generated.
 *
 * <p>Thread-safe.
 */
final class AnswerText {

  private static final List<String> WORDS =
      List.of(
          "the", "path", "is", "warm", "and", "each", "block", "that", "was", "stored", "waits",
          "for", "a", "prompt", "which", "begins", "with", "same", "words", "so", "router", "sends",
          "it", "there", "again", "engine", "reads", "what", "holds", "then", "writes", "only",
          "new", "part", "of", "answer", "one", "token", "after", "another", "until", "line",
          "ends", "cache", "keeps", "tail", "last", "long", "as", "room", "allows", "old", "blocks",
          "leave", "first", "when", "memory", "gets", "short", "queue", "moves", "on");

  private final ModelTokenizer tokenizer;
  private final int usualTokens;

  /**
   * @param usualTokens answers that nobody limits have up to so many tokens, give or take a few
   */
  AnswerText(ModelTokenizer tokenizer, int usualTokens) {
    this.tokenizer = tokenizer;
    this.usualTokens = usualTokens;
  }

  /** The tokens of the answer to {@code prompt}: at least {@code min}, at most {@code limit}. */
  int[] answer(int[] prompt, int min, int limit) {
    Random random = new Random(Arrays.hashCode(prompt));
    int words = Math.max(1, usualTokens / 4 + random.nextInt(Math.max(1, usualTokens / 2)));
    int[] tokens = encode(random, words);
    while (tokens.length < min) {
      words = 2 * words + min;
      tokens = encode(random, words);
    }
    return tokens.length > limit ? Arrays.copyOf(tokens, limit) : tokens;
  }

  private int[] encode(Random random, int words) {
    StringBuilder text = new StringBuilder();
    boolean begins = true;
    for (int i = 0; i < words; i++) {
      String word = WORDS.get(random.nextInt(WORDS.size()));
      text.append(i == 0 ? "" : " ");
      text.append(begins ? Character.toUpperCase(word.charAt(0)) + word.substring(1) : word);
      begins = i == words - 1 || random.nextInt(9) == 0;
      text.append(begins ? "." : "");
    }
    return tokenizer.encode(text.toString(), false);
  }
}
