package dev.warmpath.tokenizer.encode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What comes from memory is what the native library makes of the whole text. */
class IncrementalEncoderTest {

  private static final EncodeBudget ROOMY = new EncodeBudget(64 << 20, 50);
  private static final String WORDS = "the heather has a hedge, he said. ";

  static List<String> tokenizers() {
    return List.of(
        chatLike().json(),
        chatLike().token("<r>", "rstrip").token("<l>", "lstrip").json(),
        chatLike().token("a", "single_word").json(),
        blanks().normalize(TinyTokenizer.BLANKS).json(),
        blanks().normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS).json(),
        blanks()
            .normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS)
            .token("<r>", "rstrip")
            .json(),
        blanks().metaspace("first", false).json());
  }

  @Test
  void anEncodingWhoseThreadIsInterruptedIsGivenUpAndLeavesNothingWrong() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      String text = WORDS.repeat(1000);
      Thread.currentThread().interrupt();
      try {
        assertThatThrownBy(() -> encoder.encode(text)).isInstanceOf(CancellationException.class);
      } finally {
        assertThat(Thread.interrupted()).isTrue();
      }
      assertExact(encoder, text);
    }
  }

  @ParameterizedTest
  @MethodSource("tokenizers")
  void growingAndForkingTextsAreExact(String json) {
    Random random = new Random(5);
    CheckTexts bits = new CheckTexts(TokenizerShape.read(json).addedTokens(), random);
    try (IncrementalEncoder encoder = IncrementalEncoder.of(TokenizerShape.read(json), ROOMY, 1)) {
      String text = "";
      for (int i = 0; i < 60; i++) {
        int keep = random.nextInt(3) == 0 ? random.nextInt(text.length() + 1) : text.length();
        StringBuilder next = new StringBuilder(text.substring(0, pairEnd(text, keep)));
        for (int part = random.nextInt(12); part >= 0; part--) {
          next.append(random.nextBoolean() ? bits.next() : WORDS.repeat(random.nextInt(20)));
        }
        text = next.toString();
        assertExact(encoder, text);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-2, -1, 0, 1, 2, 40})
  void aTextThatForksNearThePieceEndIsExact(int offset) {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      String text = WORDS.repeat(2 * PrefixTree.PIECE_CHARS / WORDS.length());
      assertExact(encoder, text);
      int end = firstPieceEnd(encoder, text);
      for (String fork : List.of("x", " ", "\n", "\u0301", "<t>", "<|x|>", "\ud83d\ude00")) {
        assertExact(encoder, text.substring(0, end + offset) + fork + WORDS.repeat(300));
      }
    }
  }

  @Test
  void aTokenCompletedByTheNewTextIsOneToken() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      String text = WORDS.repeat(400);
      assertExact(encoder, text + "<|x");
      assertExact(encoder, text + "<|x|> more");
      assertExact(encoder, text + "<|x");
    }
  }

  @Test
  void theSecondTurnCostsItsNewTextOnly() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      String text = WORDS.repeat(1_000);
      encoder.encode(text);
      long made = encoder.counts().nativeTokens();
      EncodedText longer = encoder.encode(text + "<|x|>something unheard of");
      assertThat(longer).isNotNull();
      assertThat(encoder.counts().nativeTokens() - made).isLessThan(60);
      assertThat(encoder.counts().prefixTokens()).isGreaterThan(longer.tokenIds().length * 3 / 4);
    }
  }

  @Test
  void wordsOfAnEncodedTextAreKnownInOthers() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      encoder.encode(WORDS);
      long made = encoder.counts().nativeTokens();
      assertExact(encoder, " hedge, he said. the heather");
      assertThat(encoder.counts().nativeTokens() - made).isLessThan(12);
    }
  }

  @Test
  void withoutABudgetNothingIsRememberedAndAllIsExact() {
    EncodeBudget none = new EncodeBudget(0, 0);
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), none, 1)) {
      String text = WORDS.repeat(1_000);
      assertExact(encoder, text);
      assertExact(encoder, text);
      assertThat(encoder.counts().memory().bytes()).isZero();
    }
  }

  @Test
  void aSmallBudgetIsKept() {
    EncodeBudget small = new EncodeBudget(200_000, 0);
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), small, 1)) {
      for (int i = 0; i < 60; i++) {
        assertExact(encoder, "chat " + i + WORDS.repeat(500) + i + WORDS.repeat(500));
        assertThat(encoder.counts().memory().bytes()).isLessThanOrEqualTo(200_000);
      }
      assertThat(encoder.counts().memory().evictions()).isPositive();
    }
  }

  @Test
  void chainsFromMemoryAreThoseOfTheTokens() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      String text = "";
      for (int i = 0; i < 12; i++) {
        text += WORDS.repeat(150) + "<|x|>" + i;
        EncodedText encoded = encoder.encode(text);
        assertThat(encoded).isNotNull();
        for (ChainSpace space :
            List.of(new ChainSpace("m", 16, 0), new ChainSpace("m", 64, i % 2))) {
          assertSameChain(encoded, space, PromptKeys.NONE);
          assertSameChain(encoded, space, new PromptKeys(null, "salt"));
          assertSameChain(encoded, space, new PromptKeys("adapter", null));
        }
      }
    }
  }

  @Test
  void halfASurrogatePairIsRefusedWhereverItStands() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      String text = WORDS.repeat(600);
      encoder.encode(text);
      assertThat(encoder.encode("\ud83d")).isNull();
      assertThat(encoder.encode(text + "\ude00")).isNull();
      assertThat(encoder.encode(text + "\ud83d")).isNull();
      assertThat(encoder.encode("\ude00" + text)).isNull();
      assertExact(encoder, text + "\ud83d\ude00\0");
    }
  }

  @Test
  void hugeTextsGiveAResult() {
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1)) {
      assertExact(encoder, "\0".repeat(100_000));
      assertExact(encoder, "<|x|>".repeat(100_000));
      EncodedText huge = encoder.encode(WORDS.repeat((10 << 20) / WORDS.length()));
      assertThat(huge).isNotNull();
      assertThat(encoder.counts().memory().bytes()).isLessThanOrEqualTo(64 << 20);
    }
  }

  @Test
  void threadsShareIt() throws InterruptedException, ExecutionException {
    EncodeBudget small = new EncodeBudget(300_000, 0);
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try (IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), small, 1)) {
      List<Future<?>> runs = new ArrayList<>();
      for (int seed = 0; seed < 4; seed++) {
        int own = seed;
        runs.add(threads.submit(() -> growChats(encoder, own)));
      }
      for (Future<?> run : runs) {
        run.get();
      }
      assertThat(encoder.counts().memory().bytes()).isLessThanOrEqualTo(300_000);
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void closedItRefusesWhatItDoesNotRemember() {
    IncrementalEncoder encoder =
        IncrementalEncoder.of(TokenizerShape.read(chatLike().json()), ROOMY, 1);
    encoder.close();
    assertThatThrownBy(() -> encoder.encode("new")).isInstanceOf(IllegalStateException.class);
  }

  /** Ids that the native library takes and no array does, found out one after the other. */
  @ParameterizedTest
  @ValueSource(longs = {3_000_000_000L, Integer.MAX_VALUE})
  void aFileThatFailsLateLeavesNothingOpen(long id) {
    int open = TextEncoder.open();
    for (TinyTokenizer tokenizer :
        List.of(chatLike(), blanks().normalize(TinyTokenizer.PREPEND, TinyTokenizer.BLANKS))) {
      String json = tokenizer.json().replaceFirst("\"a\":\\d+", "\"a\":" + id);
      TextEncoder.of(json).close();
      assertThatThrownBy(() -> IncrementalEncoder.of(TokenizerShape.read(json), ROOMY, 1))
          .isInstanceOf(RuntimeException.class);
      assertThat(TextEncoder.open()).isEqualTo(open);
    }
  }

  private static void growChats(IncrementalEncoder encoder, int seed) {
    Random random = new Random(seed);
    String text = WORDS.repeat(260);
    for (int i = 0; i < 40; i++) {
      text = text.length() > 60_000 ? WORDS.repeat(260) : text;
      text += "<|x|>" + random.nextInt(5) + WORDS.repeat(random.nextInt(100));
      assertExact(encoder, text);
    }
  }

  private static void assertExact(IncrementalEncoder encoder, String text) {
    EncodedText encoded = encoder.encode(text);
    assertThat(encoded).isNotNull();
    assertThat(encoded.tokenIds()).isEqualTo(encoder.whole().encode(text, false));
  }

  private static void assertSameChain(EncodedText encoded, ChainSpace space, PromptKeys keys) {
    BlockChain expected = BlockChain.of(space, encoded.tokenIds(), keys);
    BlockChain chain = encoded.chain(space, keys);
    assertThat(chain.blocks()).isEqualTo(expected.blocks());
    for (int i = 0; i < expected.blocks(); i++) {
      assertThat(chain.localHash(i)).as("block %d", i).isEqualTo(expected.localHash(i));
    }
  }

  /** The chunks of a text follow from it alone, and so does the end of the first piece. */
  private static int firstPieceEnd(IncrementalEncoder encoder, String text) {
    int end = 0;
    while (end < PrefixTree.PIECE_CHARS) {
      end = encoder.placement().chunkEnd(text, end);
    }
    return end;
  }

  private static int pairEnd(String text, int at) {
    boolean inside = at > 0 && at < text.length() && Character.isHighSurrogate(text.charAt(at - 1));
    return inside ? at + 1 : at;
  }

  private static TinyTokenizer chatLike() {
    return TinyTokenizer.byteLevel(
            "h e", "Ġ h", "Ġ he", "Ġ a", "Ġ Ġ", "ĠĠ Ċ", "t he", "Ċ Ċ", "- -", "Ġhe d", "\u0120 t")
        .splitByPatterns(TinyTokenizer.LLAMA3)
        .token("<t>")
        .token("<|x|>");
  }

  private static TinyTokenizer blanks() {
    return TinyTokenizer.blanks("h e", "\u2581 he", "\u2581 a", "\u2581 \u2581", "> \u2581", "t he")
        .token("<t>")
        .token("<|x|>");
  }
}
