package dev.warmpath.tokenizer.train;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Learns byte-pair merges from a text: again and again the most frequent pair of neighbouring
 * tokens becomes a token.
 *
 * <p>The same text gives the same merges everywhere: equal counts are decided by the smaller ids.
 *
 * <p>Confined to the thread that trains.
 */
public final class BpeTrainer {

  /*
   * Words are counted once and merged in place, weighted by their count. Every round counts all
   * pairs anew, O(distinct words · vocabulary), which is well under a minute for the few thousand
   * words that this is meant for and leaves nothing to keep in step.
   */
  private static final Pattern WORDS =
      Pattern.compile(
          "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+");

  private final List<String> tokens = new ArrayList<>(ByteAlphabet.letters());
  private final List<Merge> merges = new ArrayList<>();
  private final List<Word> words;

  private BpeTrainer(List<Word> words) {
    this.words = words;
  }

  /**
   * Learns from {@code text} until there are {@code vocabularySize} tokens, or every word is one.
   */
  public static BpeVocabulary train(String text, int vocabularySize) {
    BpeTrainer trainer = new BpeTrainer(words(text));
    while (trainer.tokens.size() < vocabularySize && trainer.mergeMostFrequent()) {}
    return new BpeVocabulary(trainer.tokens, trainer.merges);
  }

  private static List<Word> words(String text) {
    Map<String, Integer> counts = new TreeMap<>();
    Matcher matcher = WORDS.matcher(text);
    while (matcher.find()) {
      counts.merge(matcher.group(), 1, Integer::sum);
    }
    List<Word> words = new ArrayList<>(counts.size());
    counts.forEach((word, count) -> words.add(new Word(ByteAlphabet.ids(word), count)));
    return words;
  }

  private boolean mergeMostFrequent() {
    Map<Pair, Integer> counts = new HashMap<>();
    for (Word word : words) {
      word.countPairs(counts);
    }
    Pair best = null;
    int bestCount = 0;
    for (Map.Entry<Pair, Integer> entry : counts.entrySet()) {
      int count = entry.getValue();
      if (count > bestCount || (count == bestCount && entry.getKey().isBefore(best))) {
        best = entry.getKey();
        bestCount = count;
      }
    }
    if (best == null) {
      return false;
    }
    merge(best);
    return true;
  }

  private void merge(Pair pair) {
    String left = tokens.get(pair.left());
    String right = tokens.get(pair.right());
    merges.add(new Merge(left, right));
    tokens.add(left + right);
    for (Word word : words) {
      word.merge(pair, tokens.size() - 1);
    }
  }
}
