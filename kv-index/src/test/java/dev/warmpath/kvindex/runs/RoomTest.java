package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CacheGroup.Kind;
import dev.warmpath.kvindex.CacheLayout;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An index that has less room than it is told to keep. */
class RoomTest {

  private static final ChainSpace SPACE = new ChainSpace("m", 1, 0);
  private static final ChainSpace OTHER_SPACE = new ChainSpace("n", 1, 0);
  private static final int ENGINES = 40;
  private static final int STEPS = 4_000;

  private final StoredBlocks stored = new StoredBlocks();
  private final RemovedBlocks removed = new RemovedBlocks();

  @ParameterizedTest
  @ValueSource(ints = {330_000, 500_000, 1_000_000, 3_000_000})
  void neverTakesMoreBytesWhateverComes(int maxBytes) {
    Random random = new Random(maxBytes);
    RunKvIndex index = index(maxBytes, ENGINES);
    for (int step = 0; step < STEPS; step++) {
      anything(index, random);
      assertThat(index.bytes()).isLessThanOrEqualTo(maxBytes);
      if (step % 200 == 0) {
        Invariants.check(index);
      }
    }
    Invariants.check(index);
    assertThat(index.evictedBlocks()).isPositive();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 120_000, 200_000, 260_000, 290_000, 310_000})
  void keepsNothingButCountsWhenThereIsNextToNoRoom(int maxBytes) {
    Random random = new Random(maxBytes);
    RunKvIndex index = index(maxBytes, ENGINES);
    long empty = index.bytes();
    for (int step = 0; step < 500; step++) {
      anything(index, random);
      assertThat(index.bytes()).isLessThanOrEqualTo(Math.max(empty, maxBytes));
    }
    assertThat(index.evictedBlocks()).isPositive();
  }

  @Test
  void whatIsStoredIsHeldOrCounted() {
    RunKvIndex index = index(1_000_000, 3);
    long blocks = 0;
    for (int prompt = 0; prompt < 3_000; prompt++) {
      int slot = prompt % 3;
      index.stored(slot, prompt(SPACE, prompt, 0, 1 + prompt % 150));
      blocks += 1 + prompt % 150;
      assertThat(held(index, 3) + index.evictedBlocks()).isEqualTo(blocks);
    }
    assertThat(held(index, 3)).isGreaterThan(20_000);
  }

  @Test
  void keepsWhatIsAskedForAndWhatItHangsOn() {
    RunKvIndex index = index(1_000_000, 3);
    BlockChain hot = chain(0, 100);
    PrefixMatches matches = new PrefixMatches();
    for (int slot = 0; slot < 3; slot++) {
      index.stored(slot, prompt(SPACE, 0, 0, 100));
    }
    for (int prompt = 1; prompt < 3_000; prompt++) {
      index.stored(prompt % 3, prompt(SPACE, prompt, 0, 100));
      if (prompt % 100 == 0) {
        index.match(hot, matches);
      }
    }
    for (int slot = 0; slot < 3; slot++) {
      assertThat(matches.tokens(slot)).isEqualTo(99);
    }
    index.match(chain(1, 100), matches);
    assertThat(matches.tokens(1)).isZero();
    index.match(chain(2_999, 100), matches);
    assertThat(matches.tokens(2)).isEqualTo(99);
  }

  @Test
  void whoAnnouncesWithoutEndDrivesOutNobodyElse() {
    RunKvIndex index = index(1_000_000, 4);
    for (int prompt = 0; prompt < 90; prompt++) {
      index.stored(prompt % 3, prompt(SPACE, prompt, 0, 100));
    }
    for (int prompt = 100; prompt < 5_000; prompt++) {
      // Told of twice, so that it does not count as cold.
      index.stored(3, prompt(SPACE, prompt, 0, 100));
      index.stored(3, prompt(SPACE, prompt, 0, 100));
    }
    Invariants.check(index);
    assertThat(index.evictedBlocks()).isPositive();
    for (int slot = 0; slot < 3; slot++) {
      assertThat(index.stats(slot).heldBlocks()).isEqualTo(3_000);
    }
    assertThat(index.stats(3).heldBlocks()).isGreaterThan(3_000);
  }

  /** Whatever kind of array was large before, others may become so. */
  @Test
  void bytesGoWhereTheyAreNeeded() {
    RunKvIndex index = index(4_000_000, 200);
    long[] heldAfter = new long[6];
    for (int phase = 0; phase < heldAfter.length; phase++) {
      for (int prompt = 0; prompt < 3_000; prompt++) {
        int id = phase * 3_000 + prompt;
        int holders = phase % 2 == 0 ? 1 : 60;
        for (int holder = 0; holder < holders; holder++) {
          index.stored((id + holder) % 200, prompt(SPACE, id, 0, 64));
        }
      }
      heldAfter[phase] = held(index, 200);
      Invariants.check(index);
    }
    for (int phase = 2; phase < heldAfter.length; phase++) {
      assertThat(heldAfter[phase]).isGreaterThan(heldAfter[phase % 2] * 8 / 10);
    }
  }

  private void anything(RunKvIndex index, Random random) {
    int slot = random.nextInt(ENGINES);
    int prompt = random.nextInt(4) == 0 ? random.nextInt(5) : random.nextInt(600);
    int from = random.nextInt(100);
    int to = from + 1 + random.nextInt(100);
    StorageTier tier = random.nextInt(10) == 0 ? StorageTier.CPU : StorageTier.GPU;
    switch (random.nextInt(20)) {
      case 0, 1, 2, 3, 4, 5 -> index.stored(slot, prompt(SPACE, prompt, 0, to));
      case 6, 7 -> index.stored(slot, prompt(OTHER_SPACE, prompt, 0, to));
      case 8 -> index.stored(slot, renamed(prompt, slot, to));
      case 9, 10, 11 -> index.stored(slot, behind(tier, prompt, from, to));
      case 12 -> index.stored(slot, unnamed(tier, prompt, from, to));
      case 13 -> index.stored(slot, contradicted(prompt, to));
      case 14, 15, 16, 17 -> index.removed(slot, removal(tier, prompt, from, to));
      case 18 -> index.match(chain(prompt, to), new PrefixMatches());
      default -> changeEngine(index, slot, random);
    }
  }

  private static void changeEngine(RunKvIndex index, int slot, Random random) {
    if (random.nextInt(10) == 0) {
      index.removeEngine(slot);
      index.addEngine(random.nextBoolean() ? CopyCounting.PER_COPY : CopyCounting.PRESENCE);
    } else if (random.nextInt(10) == 0) {
      index.cleared(slot);
    }
  }

  private StoredBlocks prompt(ChainSpace space, int prompt, int from, int to) {
    stored.atRoot(StorageTier.GPU, 0, space.rootKey());
    return add(prompt, from, to, 0);
  }

  /** The same names under engine hashes that only this engine has. */
  private StoredBlocks renamed(int prompt, int slot, int to) {
    stored.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    return add(prompt, 0, to, (slot + 1L) << 40);
  }

  private StoredBlocks behind(StorageTier tier, int prompt, int from, int to) {
    stored.behind(tier, 0, hash(prompt, from));
    return add(prompt, from + 1, to + 1, 0);
  }

  private StoredBlocks unnamed(StorageTier tier, int prompt, int from, int to) {
    stored.unnamed(tier, 0);
    return add(prompt, from, to, 0);
  }

  private StoredBlocks contradicted(int prompt, int to) {
    stored.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    for (int block = 0; block < to; block++) {
      stored.add(hash(prompt, block), hash(prompt + 1, block));
    }
    return stored;
  }

  private StoredBlocks add(int prompt, int from, int to, long more) {
    for (int block = from; block < to; block++) {
      stored.add(hash(prompt, block) + more, hash(prompt, block));
    }
    return stored;
  }

  private RemovedBlocks removal(StorageTier tier, int prompt, int from, int to) {
    removed.from(tier, 0);
    for (int block = to - 1; block >= from; block--) {
      removed.add(hash(prompt, block));
    }
    return removed;
  }

  private static BlockChain chain(int prompt, int blocks) {
    return BlockChain.ofLocalHashes(
        SPACE, LongStream.range(0, blocks).map(block -> hash(prompt, (int) block)).toArray());
  }

  private static long hash(int prompt, int block) {
    return prompt * 1_000L + block;
  }

  private static long held(RunKvIndex index, int engines) {
    long held = 0;
    for (int slot = 0; slot < engines; slot++) {
      held += index.stats(slot).heldBlocks();
    }
    return held;
  }

  private static RunKvIndex index(long maxBytes, int engines) {
    RunKvIndex index = new RunKvIndex(new IndexLimits(200, maxBytes), 1);
    CacheGroup full = new CacheGroup(0, Kind.FULL_ATTENTION, 1, 0);
    for (int slot = 0; slot < engines; slot++) {
      index.addEngine(slot % 4 == 3 ? CopyCounting.PRESENCE : CopyCounting.PER_COPY);
      index.layout(slot, new CacheLayout(List.of(full), 1, 0));
    }
    return index;
  }
}
