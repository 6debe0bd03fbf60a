package dev.warmpath.eventingest.snapshot.file;

import static dev.warmpath.eventingest.apply.LearnedCache.NO_CHUNKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.apply.LearnedCache.Groups;
import dev.warmpath.eventingest.count.StreamCounters;
import dev.warmpath.eventingest.sglang.EventFormat;
import dev.warmpath.eventingest.sglang.SglangNamespaces;
import dev.warmpath.eventingest.snapshot.EngineIdentity;
import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot;
import dev.warmpath.eventingest.snapshot.StreamSnapshot.Gap;
import dev.warmpath.eventingest.snapshot.file.SnapshotFormat.Content;
import dev.warmpath.eventingest.snapshot.file.SnapshotRefusedException.Reason;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.eventingest.wire.decode.ColumnDecoder;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.runs.RunKvIndex;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

final class SnapshotFormatTest {

  private static final IndexLimits LIMITS = IndexLimits.unbounded(100);
  private static final double START = 1_799_999_999.25;
  private static final ChainSpace SPACE = new ChainSpace("m", 4, 1);

  @Test
  void everythingComesBack() throws IOException {
    Content content = read(bytes());
    assertThat(content.ingest()).isEqualTo(snapshot());
    assertThat(content.index().stats(0).namedBlocks()).isEqualTo(3);
  }

  @Test
  void anyCutIsRefused() throws IOException {
    byte[] bytes = bytes();
    for (int length = 0; length < bytes.length; length++) {
      assertRefused(Arrays.copyOf(bytes, length), "cut at " + length, Reason.DAMAGED);
    }
  }

  @Test
  void anyFlippedBitIsRefused() throws IOException {
    byte[] bytes = bytes();
    for (int bit = 0; bit < 8 * bytes.length; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertRefused(flipped, "bit " + bit, Reason.DAMAGED, Reason.OTHER_VERSION);
    }
  }

  @Test
  void anotherVersionIsRefusedAsSuch() throws IOException {
    byte[] bytes = bytes();
    bytes[11] = 7;
    assertRefused(bytes, "version 7", Reason.OTHER_VERSION);
    bytes[11] = 4;
    assertRefused(bytes, "version 4", Reason.OTHER_VERSION);
  }

  /** The file was written by a router that wrote version 5, of the state below. */
  @Test
  void versionBeforeIsReadToo() throws IOException {
    try (InputStream file = getClass().getResourceAsStream("/snapshots/version-5.wpsnap")) {
      Content content = read(Objects.requireNonNull(file).readAllBytes());
      assertThat(content.ingest()).isEqualTo(snapshot());
      assertThat(content.index().stats(0).namedBlocks()).isEqualTo(3);
    }
  }

  /** Bytes that no router writes, under checksums that match them. */
  @Test
  void whateverTheStateSaysItIsReadOrRefusedAndNeverHurtsTheStart() throws IOException {
    byte[] good = bytes();
    int length = ByteBuffer.wrap(good).getInt(12);
    Random random = new Random(20_261_125);
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] forged = good.clone();
      int at = 16 + random.nextInt(length);
      int bytes = 1 << random.nextInt(4);
      for (int n = 0; n < bytes && at + n < 16 + length; n++) {
        forged[at + n] = (byte) (random.nextInt(3) == 0 ? random.nextInt() : -random.nextInt(2));
      }
      CRC32C checksum = new CRC32C();
      checksum.update(forged, 0, 16 + length);
      ByteBuffer.wrap(forged).putInt(16 + length, (int) checksum.getValue());
      try {
        Content content = read(forged);
        follow(content);
        read++;
      } catch (SnapshotRefusedException e) {
        assertThat(e.reason()).isEqualTo(Reason.DAMAGED);
      }
    }
    assertThat(read).as("numbers and texts that may be").isGreaterThan(1_000);
  }

  /** Each engine goes on, and its next batch comes. */
  private static void follow(Content content) {
    TestEngine engine = new TestEngine().serve(IntStream.range(0, 9).toArray());
    for (EngineSnapshot known : content.ingest().engines()) {
      StreamSnapshot stream = known.stream();
      if (stream == null || known.slot() >= 3) {
        continue;
      }
      EngineSource source =
          new EngineSource(
              known.identity().id(), "m", "tcp://x", false, null, known.identity().dialect());
      EventApplier applier =
          new EventApplier(
              content.index(), source, new StreamCounters(), known.slot(), stream.learned());
      try {
        applier.apply(new ColumnDecoder().decode(engine.payload(0)));
      } catch (WireException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  @Test
  void moreThanASnapshotIsRefused() throws IOException {
    byte[] bytes = bytes();
    assertRefused(Arrays.copyOf(bytes, bytes.length + 1), "longer", Reason.DAMAGED);
  }

  @Test
  void engineWithoutASlotIsRefused() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(snapshot(), new RunKvIndex(LIMITS), out);
    assertRefused(out.toByteArray(), "no slots", Reason.DAMAGED);
  }

  private static void assertRefused(byte[] bytes, String what, Reason... reasons) {
    assertThatThrownBy(() -> read(bytes))
        .as(what)
        .isInstanceOfSatisfying(
            SnapshotRefusedException.class, e -> assertThat(e.reason()).isIn((Object[]) reasons))
        .message()
        .isNotBlank();
  }

  private static final String SHOWN =
      new SglangNamespaces(EventFormat.DYNAMO, Map.of("fr", "1f")).text();

  private static Content read(byte[] bytes) throws IOException {
    return SnapshotFormat.read(new ByteArrayInputStream(bytes), LIMITS);
  }

  static byte[] bytes() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(snapshot(), index(), out);
    return out.toByteArray();
  }

  static RunKvIndex index() {
    RunKvIndex index = new RunKvIndex(LIMITS);
    index.addEngine(CopyCounting.PER_COPY);
    index.addEngine(CopyCounting.PRESENCE);
    index.addEngine(CopyCounting.PRESENCE);
    StoredBlocks blocks = new StoredBlocks();
    blocks.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    blocks.add(11, 1);
    blocks.add(12, 2);
    blocks.add(13, 3);
    index.stored(0, blocks);
    return index;
  }

  static IngestSnapshot snapshot() {
    LearnedCache learned =
        new LearnedCache(
            new Groups(
                List.of(
                    new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 4, 0),
                    new CacheGroup(2, CacheGroup.Kind.SLIDING_WINDOW, 4, 128)),
                3,
                8_192),
            0,
            SPACE,
            true,
            16);
    LearnedCache nothing =
        new LearnedCache(new Groups(List.of(), -1, 0), 0, null, false, NO_CHUNKS);
    return new IngestSnapshot(
        Instant.ofEpochMilli(1_800_000_000_000L),
        List.of(
            new EngineSnapshot(
                new EngineIdentity(
                    new EngineId("a", 0), "m", EngineDialect.VLLM, 1, CopyCounting.PER_COPY, ""),
                0,
                3,
                new StreamSnapshot(17, 0x123456789abcdefL, START, new Gap("lost", true), learned)),
            new EngineSnapshot(
                new EngineIdentity(
                    new EngineId("é", 7),
                    "",
                    EngineDialect.SGLANG,
                    0,
                    CopyCounting.PER_COPY,
                    SHOWN),
                1,
                0,
                new StreamSnapshot(0, 1, Double.NaN, null, nothing)),
            new EngineSnapshot(
                new EngineIdentity(
                    new EngineId("u", 0), "", EngineDialect.TRTLLM, 0, CopyCounting.PRESENCE, ""),
                2,
                0,
                null)));
  }
}
