package dev.warmpath.router.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.EngineView;
import dev.warmpath.eventingest.StoreRules;
import dev.warmpath.eventingest.Trust;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class StoreTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 4, 0);
  private static final int TOKENS = 400;
  private static final long MINUTE = TimeUnit.MINUTES.toNanos(1);

  private final Store store = store(false);
  private int prompts;

  private static Store store(boolean publishes) {
    return store(publishes, 1);
  }

  private static Store store(boolean publishes, int removals) {
    StoreRules rules = new StoreRules("pool", null, publishes, "");
    return new Store(rules, new Said(removals));
  }

  /** What is heard of a store. */
  private static final class Said implements Store.Heard {
    private final long removals;
    private long silentNanos;
    private long told;

    Said(long removals) {
      this.removals = removals;
    }

    @Override
    public EngineView view() {
      return EngineView.UNSEEN;
    }

    @Override
    public long removals() {
      return removals;
    }

    @Override
    public long silentNanos() {
      return silentNanos;
    }

    @Override
    public long toldMeanwhile() {
      return told;
    }
  }

  @Test
  void oneThatSaysNothingWhileItIsFilledIsSilent() {
    Said said = new Said(0);
    Store published = new Store(new StoreRules("pool", null, true, ""), said);
    said.told = 256;
    said.silentNanos = MINUTE - 1;
    assertThat(published.isSilent(10 * MINUTE)).as("not for a minute yet").isFalse();
    said.silentNanos = MINUTE;
    assertThat(published.isSilent(10 * MINUTE)).isTrue();
    said.told = 255;
    assertThat(published.isSilent(10 * MINUTE)).as("nobody uses it much").isFalse();
    Store unpublished = new Store(new StoreRules("pool", null, false, ""), said);
    said.told = 10_000;
    assertThat(unpublished.isSilent(10 * MINUTE)).isFalse();
  }

  @Test
  void oneOfWhichReadersGetWhatItWasNotKnownToHoldIsSilent() {
    Said said = new Said(0);
    Store published = new Store(new StoreRules("pool", null, true, ""), said);
    said.silentNanos = MINUTE;
    published.cameUnknown(16_000, 10 * MINUTE);
    assertThat(published.isSilent(10 * MINUTE)).isFalse();
    published.cameUnknown(384, 10 * MINUTE);
    assertThat(published.isSilent(10 * MINUTE)).isTrue();
    said.silentNanos = 0;
    published.cameUnknown(384, 11 * MINUTE);
    said.silentNanos = MINUTE;
    assertThat(published.isSilent(12 * MINUTE)).as("it was heard meanwhile").isFalse();
  }

  private static BlockChain prompt(int number) {
    int[] tokens = IntStream.range(0, TOKENS).map(i -> 1000 * number + i).toArray();
    return BlockChain.of(SPACE, tokens, PromptKeys.NONE);
  }

  /** A prompt that was used so long ago is asked for again, and so much of it is there. */
  private Store.Read ask(long agoNanos, int served) {
    BlockChain chain = prompt(++prompts);
    long now = prompts * 1000 * MINUTE;
    store.markUsed(chain, now - agoNanos);
    Store.Read read = store.read(chain, 0, TOKENS, Trust.EXACT, now);
    store.answered(chain, read, served);
    return read;
  }

  @Test
  void ageDecidesHowMuchIsCountedOn() {
    for (int i = 0; i < 20; i++) {
      ask(MINUTE, TOKENS);
      ask(60 * MINUTE, 0);
    }
    assertThat(ask(MINUTE, TOKENS).creditTokens()).isGreaterThan(17 * TOKENS / 20);
    assertThat(ask(60 * MINUTE, 0).creditTokens()).isLessThan(TOKENS / 8);
    assertThat(store.chance(60 * MINUTE)).isLessThan(store.chance(MINUTE));
  }

  @Test
  void olderBlocksAreNeverMoreLikelyThanYoungerOnes() {
    for (int i = 0; i < 20; i++) {
      ask(MINUTE, 0);
      ask(60 * MINUTE, TOKENS);
    }
    assertThat(store.chance(60 * MINUTE)).isEqualTo(store.chance(MINUTE)).isLessThan(0.6);
  }

  @Test
  void trustComesBack() {
    for (int i = 0; i < 40; i++) {
      ask(MINUTE, 0);
    }
    assertThat(store.chance(MINUTE)).isLessThan(0.15);
    for (int i = 0; i < 100; i++) {
      ask(MINUTE, TOKENS);
    }
    assertThat(store.chance(MINUTE)).isGreaterThan(0.8);
  }

  /** What lies behind the first hole may be there. */
  @Test
  void blocksBehindTheFirstMissingOneShowNothing() {
    for (int i = 0; i < 20; i++) {
      BlockChain chain = prompt(++prompts);
      long now = prompts * 1000 * MINUTE;
      store.markUsed(chain, now - MINUTE);
      Store.Read read = store.read(chain, 0, TOKENS, Trust.EXACT, now);
      store.answered(chain, read, TOKENS - 4);
    }
    assertThat(store.chance(MINUTE)).as("12 of 13 pieces").isBetween(0.8, 0.93);
  }

  @Test
  void unknownAgeCountsAsTheOldest() {
    Store.Read read = store.read(prompt(1), 40, TOKENS, Trust.EXACT, MINUTE);
    assertThat(read.creditTokens()).isBetween(41, 40 + TOKENS / 4);
    assertThat(read.isSure()).isFalse();
  }

  /** As one that writes files does, which somebody else deletes. */
  @Test
  void oneThatNeverPublishesARemovalIsTrustedByAgeFromItsFirstMissOn() {
    Store published = store(true, 0);
    Store removing = store(true, 1);
    for (Store each : List.of(published, removing)) {
      for (int i = 0; i < 5; i++) {
        BlockChain chain = prompt(i);
        Store.Read read = each.read(chain, 0, TOKENS, Trust.EXACT, MINUTE);
        assertThat(read.creditTokens() == TOKENS).isEqualTo(!each.dropsUnheard());
        each.answered(chain, read, 0);
      }
    }
    assertThat(published.dropsUnheard()).isTrue();
    Store.Read read = published.read(prompt(9), 0, TOKENS, Trust.EXACT, MINUTE);
    assertThat(read.creditTokens()).isLessThan(TOKENS / 8);
    assertThat(read.isSure()).isFalse();
    assertThat(removing.dropsUnheard()).isFalse();
  }

  @Test
  void whatAStorePublishesCountsInFull() {
    Store published = store(true);
    Store.Read read = published.read(prompt(1), 40, TOKENS, Trust.EXACT, MINUTE);
    assertThat(read.creditTokens()).isEqualTo(TOKENS);
    assertThat(read.isSure()).isTrue();
    assertThat(published.read(prompt(1), 40, TOKENS, Trust.SUSPECT, MINUTE).creditTokens())
        .isEqualTo(40 + 268);
  }
}
