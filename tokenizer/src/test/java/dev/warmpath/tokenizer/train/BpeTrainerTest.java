package dev.warmpath.tokenizer.train;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BpeTrainerTest {

  @Test
  void theMostFrequentPairIsMergedFirst() {
    BpeVocabulary vocabulary = BpeTrainer.train("cab cab cab ab ba", 258);
    assertThat(vocabulary.merges()).containsExactly(new Merge("a", "b"), new Merge("c", "ab"));
    assertThat(vocabulary.tokens().subList(256, 258)).containsExactly("ab", "cab");
  }

  @Test
  void equalCountsAreDecidedByTheSmallerIds() {
    assertThat(BpeTrainer.train("dc\nba", 257).merges()).containsExactly(new Merge("b", "a"));
  }

  @Test
  void repeatedLettersMergeFromTheLeft() {
    assertThat(BpeTrainer.train("aaa", 1_000).merges())
        .containsExactly(new Merge("a", "a"), new Merge("aa", "a"));
  }

  @Test
  void everyByteHasALetterOfItsOwn() {
    assertThat(ByteAlphabet.letters()).hasSize(256).doesNotHaveDuplicates();
    assertThat(ByteAlphabet.ids("!é ")).containsExactly(0, 127, 102, 220);
  }

  @Test
  void anEmptyTextLeavesTheBytes() {
    assertThat(BpeTrainer.train("", 300).size()).isEqualTo(256);
  }
}
