package dev.warmpath.kvindex.runs;

import static dev.warmpath.kvindex.runs.SnapshotFixture.blocks;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.KvIndex.EngineStats;
import dev.warmpath.kvindex.PrefixMatches;
import dev.warmpath.kvindex.RemovedBlocks;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.proof.Side;
import dev.warmpath.kvindex.snapshot.SnapshotInput;
import dev.warmpath.kvindex.snapshot.SnapshotOutput;
import dev.warmpath.kvindex.workload.Script;
import dev.warmpath.kvindex.workload.Step;
import dev.warmpath.kvindex.workload.Workload;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What is written comes back, in any state. */
class SnapshotTest {

  private static final int SEEDS = 60;

  @Test
  void anEmptyIndexComesBackEmpty() {
    RunKvIndex copy = SnapshotFixture.reload(new RunKvIndex(IndexLimits.unbounded(3), 1));
    Invariants.check(copy);
    assertThat(copy.addEngine(CopyCounting.PER_COPY)).isZero();
  }

  @Test
  void oneOfEverythingComesBack() {
    RunKvIndex index = SnapshotFixture.everything();
    assertThat(index.stats(0)).isEqualTo(new EngineStats(79, 70, 4, 2, 1, 0, 0));
    assertThat(index.stats(2)).isEqualTo(new EngineStats(34, 32, 0, 0, 0, 2, 0));
    compare(index, List.of(0, 2, 3, 4, 5), questions());
    RunKvIndex copy = SnapshotFixture.reload(index);
    assertThat(copy.addEngine(CopyCounting.PER_COPY)).isEqualTo(1);
    assertThat(copy.addEngine(CopyCounting.PER_COPY)).isEqualTo(6);
  }

  /** Made of {@link SnapshotFixture#everything()} by the last release, behind an empty ingest. */
  @Test
  void versionBeforeIsReadToo() throws IOException {
    try (InputStream in = SnapshotTest.class.getResourceAsStream("version-6.snapshot")) {
      byte[] snapshot = Objects.requireNonNull(in).readAllBytes();
      RunKvIndex old = SnapshotFixture.read(snapshot, IndexLimits.unbounded(4));
      compare(SnapshotFixture.everything(), old, List.of(0, 2, 3, 4, 5), questions());
    }
  }

  @Test
  void everyStateOfAnySeedComesBack() {
    for (int seed = 0; seed < SEEDS; seed++) {
      Script script = Workload.of(seed);
      RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(script.maxOrphans()), 1);
      Side<RunKvIndex> side = new Side<>(index, UnaryOperator.identity());
      for (Step step : script.steps()) {
        side.apply(step);
        compare(index, side.slots().values(), script.questions());
      }
    }
  }

  @Test
  void suspendedBlocksComeBackAndWhatWasConfirmedOfThem() {
    RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(3), 1);
    index.addEngine(CopyCounting.PER_COPY);
    StoredBlocks stored = new StoredBlocks();
    long root = SnapshotFixture.SPACE.rootKey();
    index.stored(0, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 70));
    assertThat(index.suspended(0)).isEqualTo(70);
    BlockChain prompt = BlockChain.ofLocalHashes(SnapshotFixture.SPACE, ranges(new long[] {0, 9}));
    assertThat(index.confirmed(0, StorageTier.GPU, 0, prompt, 3)).isEqualTo(3);
    compare(index, List.of(0), questions());

    RunKvIndex copy = SnapshotFixture.reload(index);
    copy.stored(0, blocks(stored.atRoot(StorageTier.GPU, 0, root), 1000, 0, 1));
    copy.removed(0, new RemovedBlocks().from(StorageTier.GPU, 0).add(1000));
    assertThat(copy.stats(0)).isEqualTo(new EngineStats(2, 2, 0, 0, 0, 0, 67));
    Invariants.check(copy);
  }

  @Test
  void onlyAnIndexThatNeverHadAnEngineIsReadInto() {
    byte[] snapshot = SnapshotFixture.write(SnapshotFixture.everything());
    RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(4), 1);
    index.removeEngine(index.addEngine(CopyCounting.PRESENCE));
    assertThatThrownBy(() ->
            index.readFrom(
                new SnapshotInput(new ByteArrayInputStream(snapshot), Long.MAX_VALUE), List.of()))
        .isInstanceOf(IllegalStateException.class);
  }

  @Test
  void orphansBeyondTheLimitAreDroppedOldestFirst() throws IOException {
    byte[] snapshot = SnapshotFixture.write(SnapshotFixture.everything());
    RunKvIndex copy = SnapshotFixture.read(snapshot, IndexLimits.unbounded(1));
    Invariants.check(copy);
    assertThat(copy.stats(0)).isEqualTo(new EngineStats(79, 70, 1, 5, 1, 0, 0));
  }

  @Test
  void whatHasNoRoomIsLeftOutAndCounted() throws IOException {
    RunKvIndex index = new RunKvIndex(IndexLimits.unbounded(4), 1);
    index.addEngine(CopyCounting.PER_COPY);
    StoredBlocks stored = new StoredBlocks();
    long root = SnapshotFixture.SPACE.rootKey();
    for (int i = 0; i < 1000; i++) {
      index.stored(0, blocks(stored.atRoot(StorageTier.GPU, 0, root), i * 100L, i * 100L, 90));
    }
    long half = (new RunKvIndex(IndexLimits.unbounded(4), 1).bytes() + index.bytes()) / 2;
    RunKvIndex copy = SnapshotFixture.read(SnapshotFixture.write(index), new IndexLimits(4, half));
    Invariants.check(copy);
    assertThat(copy.bytes()).isLessThanOrEqualTo(half);
    assertThat(copy.stats(0).heldBlocks()).isBetween(30_000L, 60_000L);
    assertThat(copy.stats(0).heldBlocks() + copy.evictedBlocks()).isEqualTo(90_000);
  }

  @Test
  void aStreamThatFailsIsNoSnapshotException() {
    IOException failure = new IOException("disk full");
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw failure;
          }
        };
    assertThatThrownBy(
            () -> {
              SnapshotOutput out = new SnapshotOutput(full, Long.MAX_VALUE);
              SnapshotFixture.everything().writeTo(out);
              out.finish();
            })
        .hasCause(failure);
  }

  private static List<BlockChain> questions() {
    List<BlockChain> questions = new ArrayList<>();
    for (long[] locals :
        new long[][] {{0, 70}, {0, 10, 500, 503}, {900, 903}, {900, 903, 40, 45}}) {
      questions.add(BlockChain.ofLocalHashes(SnapshotFixture.SPACE, ranges(locals)));
      questions.add(BlockChain.ofLocalHashes(SnapshotFixture.OTHER_SPACE, ranges(locals)));
    }
    return questions;
  }

  private static void compare(
      RunKvIndex index, Collection<Integer> slots, List<BlockChain> questions) {
    compare(index, SnapshotFixture.reload(index), slots, questions);
  }

  private static void compare(
      RunKvIndex index, RunKvIndex copy, Collection<Integer> slots, List<BlockChain> questions) {
    Invariants.check(copy);
    for (int slot : slots) {
      assertThat(copy.stats(slot)).isEqualTo(index.stats(slot));
    }
    PrefixMatches expected = new PrefixMatches();
    PrefixMatches answer = new PrefixMatches();
    for (BlockChain question : questions) {
      index.match(question, expected);
      copy.match(question, answer);
      assertThat(text(answer)).isEqualTo(text(expected));
    }
  }

  private static String text(PrefixMatches matches) {
    StringBuilder text = new StringBuilder();
    for (int slot = 0; slot < matches.slots(); slot++) {
      for (StorageTier tier : StorageTier.values()) {
        text.append(matches.tokens(slot, tier)).append(' ');
      }
      text.append(matches.hostTokens(slot)).append(' ');
    }
    return text.toString();
  }

  private static long[] ranges(long[] bounds) {
    LongStream all = LongStream.empty();
    for (int i = 0; i < bounds.length; i += 2) {
      all = LongStream.concat(all, LongStream.range(bounds[i], bounds[i + 1]));
    }
    return all.toArray();
  }
}
