package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CachesTest {

  private static final int[] IDS = {1, 2, 3};
  private static final int LOOKAHEAD = 5;

  @Test
  void chunksAskedForLongestAgoGo() {
    ChunkCache cache = new ChunkCache(40_000, 3);
    ChunkCache.TextKey kept = cache.key("kept", false);
    cache.put(kept, IDS);
    for (int i = 0; i < 2_000; i++) {
      cache.put(cache.key("other " + i, false), IDS);
      assertThat(cache.find(kept)).isSameAs(IDS);
      assertThat(cache.counts().bytes()).isLessThanOrEqualTo(40_000);
    }
    assertThat(cache.counts().evictions()).isPositive();
    assertThat(cache.find(cache.key("other 0", false))).isNull();
  }

  @Test
  void keysTellTextsBeginningsAndSeedsApart() {
    ChunkCache cache = new ChunkCache(40_000, 3);
    assertThat(cache.key("a", false)).isEqualTo(cache.key("a", false));
    assertThat(cache.key("a", false)).isNotEqualTo(cache.key("b", false));
    assertThat(cache.key("a", false)).isNotEqualTo(cache.key("a", true));
    assertThat(cache.key("a", false)).isNotEqualTo(new ChunkCache(40_000, 4).key("a", false));
  }

  @Test
  void aChunkLargerThanItsRoomIsNotKept() {
    ChunkCache cache = new ChunkCache(16_000, 3);
    ChunkCache.TextKey key = cache.key("large", false);
    cache.put(key, new int[10_000]);
    assertThat(cache.find(key)).isNull();
    assertThat(cache.counts().bytes()).isZero();
  }

  @Test
  void wordsInUseOutliveTheOthers() {
    WordCache cache = new WordCache(20_000);
    cache.put("kept", IDS);
    for (int i = 0; i < 1_000; i++) {
      cache.put("w" + i, IDS);
      assertThat(cache.find("kept")).isSameAs(IDS);
      assertThat(cache.counts().bytes()).isLessThanOrEqualTo(20_000);
    }
    assertThat(cache.find("w0")).isNull();
    assertThat(cache.find("w999")).isSameAs(IDS);
    assertThat(cache.counts().evictions()).isPositive();
  }

  @Test
  void smallerRoomIsKeptAtOnce() {
    ChunkCache chunks = new ChunkCache(80_000, 3);
    WordCache words = new WordCache(80_000);
    PrefixTree tree = new PrefixTree(1 << 20, LOOKAHEAD);
    for (int i = 0; i < 400; i++) {
      chunks.put(chunks.key("chunk " + i, false), IDS);
      words.put("w" + i, IDS);
    }
    tree.add(null, text('a', 3), PrefixTree.PIECE_CHARS, IDS);
    chunks.resize(20_000);
    words.resize(20_000);
    assertThat(chunks.counts().bytes()).isBetween(1L, 20_000L);
    assertThat(chunks.counts().maxBytes()).isEqualTo(20_000);
    assertThat(words.counts().bytes()).isLessThanOrEqualTo(20_000);
    words.put("after", IDS);
    assertThat(words.find("after")).isSameAs(IDS);
    tree.resize(0);
    assertThat(tree.walk(text('a', 3))).isNull();
    assertThat(tree.counts().bytes()).isZero();
    tree.checkInvariants();
  }

  @Test
  void longWordsAreNotKept() {
    WordCache cache = new WordCache(20_000);
    String longWord = "x".repeat(WordCache.LONGEST_CHARS + 1);
    cache.put(longWord, IDS);
    assertThat(cache.find(longWord)).isNull();
  }

  @Test
  void beginningsAreFoundByTheirWholeText() {
    PrefixTree tree = new PrefixTree(1 << 20, LOOKAHEAD);
    String text = text('a', 3);
    PrefixNode first = tree.add(null, text, PrefixTree.PIECE_CHARS, IDS);
    PrefixNode second = tree.add(first, text, 2 * PrefixTree.PIECE_CHARS, IDS);
    assertThat(tree.walk(text)).isSameAs(second);
    assertThat(second.endTokens()).isEqualTo(6);
    assertThat(tree.walk(changed(text, 0))).isNull();
    assertThat(tree.walk(changed(text, PrefixTree.PIECE_CHARS + 1))).isNull();
    assertThat(tree.walk(changed(text, PrefixTree.PIECE_CHARS + LOOKAHEAD))).isSameAs(first);
    assertThat(tree.walk(changed(text, text.length() - 1))).isSameAs(second);
  }

  @Test
  void aPieceNeedsItsLookahead() {
    PrefixTree tree = new PrefixTree(1 << 20, LOOKAHEAD);
    String text = text('a', 1);
    assertThat(tree.fits(text, 0, PrefixTree.PIECE_CHARS)).isFalse();
    assertThat(tree.fits(text + "12345", 0, PrefixTree.PIECE_CHARS)).isTrue();
    assertThat(tree.fits(text + "12345", 1, PrefixTree.PIECE_CHARS)).isFalse();
  }

  @Test
  void whatIsUsedOutlivesWhatIsNot() {
    PrefixTree tree = new PrefixTree(100_000, LOOKAHEAD);
    String kept = text('a', 3);
    PrefixNode first = tree.add(null, kept, PrefixTree.PIECE_CHARS, IDS);
    PrefixNode second = tree.add(first, kept, 2 * PrefixTree.PIECE_CHARS, IDS);
    for (char c = 'b'; c < 'z'; c++) {
      tree.add(null, text(c, 2), PrefixTree.PIECE_CHARS, IDS);
      assertThat(tree.walk(kept)).isSameAs(second);
      assertThat(tree.counts().bytes()).isLessThanOrEqualTo(100_000);
    }
    assertThat(tree.counts().evictions()).isPositive();
    for (char c = 'b'; c < 'z'; c++) {
      tree.add(null, text(c, 2), PrefixTree.PIECE_CHARS, IDS);
    }
    assertThat(tree.walk(kept)).isNull();
  }

  @Test
  void manyTextsThatLookAlikeDoNotGrowOneList() {
    PrefixTree tree = new PrefixTree(1 << 20, LOOKAHEAD);
    String text = text('a', 2);
    for (int i = 0; i < 100; i++) {
      String alike = text.substring(0, 1) + (char) ('b' + i) + text.substring(2);
      PrefixNode node = tree.add(null, alike, PrefixTree.PIECE_CHARS, IDS);
      assertThat(tree.walk(alike)).isSameAs(node);
    }
    assertThat(tree.counts().evictions()).isEqualTo(68);
  }

  private static String text(char fill, int pieces) {
    return String.valueOf(fill).repeat(pieces * PrefixTree.PIECE_CHARS);
  }

  private static String changed(String text, int at) {
    return text.substring(0, at) + '!' + text.substring(at + 1);
  }
}
