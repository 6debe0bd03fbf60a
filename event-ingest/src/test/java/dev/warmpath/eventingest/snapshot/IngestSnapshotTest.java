package dev.warmpath.eventingest.snapshot;

import static dev.warmpath.eventingest.apply.LearnedCache.NO_CHUNKS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.EngineSource;
import dev.warmpath.eventingest.StreamCounters;
import dev.warmpath.eventingest.TestEngine;
import dev.warmpath.eventingest.apply.EventApplier;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.apply.LearnedCache.Groups;
import dev.warmpath.eventingest.hashing.EventFormat;
import dev.warmpath.eventingest.hashing.SglangNamespaces;
import dev.warmpath.eventingest.snapshot.EngineSnapshot.Identity;
import dev.warmpath.eventingest.snapshot.StreamSnapshot.Gap;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.CopyCounting;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.StoredBlocks;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.ImageForm;
import dev.warmpath.kvindex.block.ImageForm.Algorithm;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.snapshot.SnapshotException;
import dev.warmpath.kvindex.snapshot.SnapshotException.Reason;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class IngestSnapshotTest {

  private static final IndexLimits LIMITS = IndexLimits.unbounded(100);
  private static final double START = 1_799_999_999.25;
  private static final ChainSpace SPACE = new ChainSpace("m", 4, 1);
  private static final Instant TAKEN = Instant.ofEpochMilli(1_800_000_000_000L);
  private static final int FIRST_PART = 12;

  /** What was read. */
  private record Content(IngestSnapshot ingest, RunKvIndex index) {}

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
    bytes[8] = 9;
    assertRefused(bytes, "version 9", Reason.OTHER_VERSION);
    byte[] old = earlier(6);
    old[11] = 5;
    assertThatThrownBy(() -> read(old))
        .isInstanceOf(SnapshotException.class)
        .hasMessage("version 5, only 6 to 8 are understood");
  }

  @Test
  void anyCutOrFlippedBitOfAnEarlierVersionIsRefused() throws IOException {
    assertAnyCutOrFlippedBitIsRefused(earlier(6));
    assertAnyCutOrFlippedBitIsRefused(earlier(7));
  }

  private static void assertAnyCutOrFlippedBitIsRefused(byte[] bytes) {
    for (int length = 0; length < bytes.length; length++) {
      assertRefused(Arrays.copyOf(bytes, length), "cut at " + length, Reason.DAMAGED);
    }
    for (int bit = 0; bit < 8 * bytes.length; bit++) {
      byte[] flipped = bytes.clone();
      flipped[bit / 8] ^= (byte) (1 << bit % 8);
      assertRefused(flipped, "bit " + bit, Reason.DAMAGED, Reason.OTHER_VERSION);
    }
    assertRefused(Arrays.copyOf(bytes, bytes.length + 1), "longer", Reason.DAMAGED);
  }

  /** A file that a router of that version wrote, of the state below. */
  private static byte[] earlier(int version) throws IOException {
    String name = "/snapshots/version-" + version + ".wpsnap";
    try (InputStream file = IngestSnapshotTest.class.getResourceAsStream(name)) {
      return Objects.requireNonNull(file).readAllBytes();
    }
  }

  @Test
  void earlierVersionsAreReadWithoutWhatTheyDidNotKeep() throws IOException {
    for (int version : new int[] {6, 7}) {
      Content content = read(earlier(version));
      assertThat(content.ingest()).as("version %d", version).isEqualTo(snapshot(null));
      assertThat(content.index().stats(0).namedBlocks()).isEqualTo(3);
    }
  }

  @Test
  void isReadAndWrittenWithinItsBounds() throws IOException {
    byte[] bytes = bytes();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    snapshot().writeTo(out, index(), bytes.length);
    assertThat(read(out.toByteArray(), bytes.length).ingest()).isEqualTo(snapshot());
    assertThatThrownBy(() -> snapshot().writeTo(out, index(), bytes.length - 1))
        .hasMessage("more than " + (bytes.length - 1) + " bytes");
    for (byte[] any : List.of(bytes, earlier(6), earlier(7))) {
      assertThatThrownBy(() -> read(any, any.length - 1))
          .isInstanceOfSatisfying(
              SnapshotException.class, e -> assertThat(e.reason()).isEqualTo(Reason.TOO_LARGE));
    }
  }

  /** Larger than any part of a snapshot. */
  @Test
  void sectionsLargerThanAPartComeBack() throws IOException {
    String long1 = "é".repeat(300_000);
    StreamSnapshot stream = Objects.requireNonNull(snapshot().engines().get(0).stream());
    List<EngineSnapshot> engines = new ArrayList<>();
    for (int slot = 0; slot < 3; slot++) {
      engines.add(
          new EngineSnapshot(
              new Identity(
                  new EngineId("a" + long1.substring(slot), slot),
                  "m",
                  EngineDialect.VLLM,
                  1,
                  CopyCounting.PER_COPY,
                  long1),
              slot,
              3,
              stream));
    }
    IngestSnapshot large = new IngestSnapshot(TAKEN, engines);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    large.writeTo(out, index(), Integer.MAX_VALUE);
    byte[] bytes = out.toByteArray();
    assertThat(read(bytes).ingest()).isEqualTo(large);
    Random random = new Random(1);
    for (int i = 0; i < 40; i++) {
      byte[] flipped = bytes.clone();
      flipped[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
      assertRefused(flipped, "flipped", Reason.DAMAGED, Reason.OTHER_VERSION);
      assertRefused(Arrays.copyOf(bytes, random.nextInt(bytes.length)), "cut", Reason.DAMAGED);
    }
  }

  /** Parts at another place, twice, or left out, each under its own right checksum. */
  @Test
  void partsInAnotherOrderAreRefused() throws IOException {
    byte[] bytes = bytes();
    List<byte[]> parts = parts(bytes);
    for (int i = 0; i < parts.size(); i++) {
      List<byte[]> without = new ArrayList<>(parts);
      without.remove(i);
      assertRefused(join(bytes, without), "without " + i, Reason.DAMAGED);
      List<byte[]> twice = new ArrayList<>(parts);
      twice.add(i, parts.get(i));
      assertRefused(join(bytes, twice), "twice " + i, Reason.DAMAGED);
      if (i > 0 && parts.get(i)[0] != parts.get(i - 1)[0]) { // engines have no order
        List<byte[]> swapped = new ArrayList<>(parts);
        swapped.add(i - 1, swapped.remove(i));
        assertRefused(join(bytes, swapped), "swapped " + i, Reason.DAMAGED);
      }
    }
    assertThat(join(bytes, parts)).isEqualTo(bytes);
  }

  /** Bytes that no router writes, under checksums that match them. */
  @Test
  void whateverTheStateSaysItIsReadOrRefusedAndNeverHurtsTheStart() throws IOException {
    byte[] good = bytes();
    List<byte[]> parts = parts(good);
    Random random = new Random(20_261_125);
    int read = 0;
    for (int i = 0; i < 20_000; i++) {
      List<byte[]> changed = new ArrayList<>(parts);
      int which = random.nextInt(4); // the head and the streams; the index has tests of its own
      byte[] part = changed.get(which).clone();
      int at = random.nextInt(part.length);
      int bytes = 1 << random.nextInt(4);
      for (int n = 0; n < bytes && at + n < part.length; n++) {
        part[at + n] = (byte) (random.nextInt(3) == 0 ? random.nextInt() : -random.nextInt(2));
      }
      changed.set(which, part);
      byte[] forged = join(good, changed);
      try {
        Content content = read(forged);
        follow(content);
        read++;
      } catch (SnapshotException e) {
        assertThat(e.reason()).isIn(Reason.DAMAGED, Reason.TOO_OLD);
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
    snapshot().writeTo(out, new RunKvIndex(LIMITS), Integer.MAX_VALUE);
    assertRefused(out.toByteArray(), "no slots", Reason.DAMAGED);
  }

  private static void assertRefused(byte[] bytes, String what, Reason... reasons) {
    assertThatThrownBy(() -> read(bytes))
        .as(what)
        .isInstanceOfSatisfying(
            SnapshotException.class, e -> assertThat(e.reason()).isIn((Object[]) reasons))
        .message()
        .isNotBlank();
  }

  private static final String SHOWN =
      new SglangNamespaces(EventFormat.DYNAMO, Map.of("fr", "1f")).text();

  private static Content read(byte[] bytes) throws IOException {
    return read(bytes, Integer.MAX_VALUE);
  }

  /** An index that a stream was refused for is as empty as before, and can be read into. */
  private static Content read(byte[] bytes, long maxBytes) throws IOException {
    RunKvIndex index = new RunKvIndex(LIMITS);
    try {
      return new Content(readInto(index, bytes, maxBytes), index);
    } catch (SnapshotException e) {
      assertThatThrownBy(() -> index.stats(0)).isInstanceOf(IllegalArgumentException.class);
      assertThat(index.addEngine(CopyCounting.PER_COPY)).isZero();
      assertThat(index.stats(0).namedBlocks()).isZero();
      throw e;
    }
  }

  static IngestSnapshot readInto(RunKvIndex index, byte[] bytes, long maxBytes) throws IOException {
    return IngestSnapshot.readFrom(
        new ByteArrayInputStream(bytes),
        index,
        new IngestSnapshot.Bounds(maxBytes, Duration.ofHours(1), TAKEN));
  }

  /** Section and fields of each part. */
  private static List<byte[]> parts(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).position(FIRST_PART);
    List<byte[]> parts = new ArrayList<>();
    while (in.hasRemaining()) {
      byte[] part = new byte[1 + in.getInt(in.position() + 1)];
      part[0] = in.get();
      in.getInt();
      in.get(part, 1, part.length - 1);
      in.getInt();
      parts.add(part);
    }
    return parts;
  }

  /** A snapshot of such parts, with the head of another and checksums that match. */
  private static byte[] join(byte[] head, List<byte[]> parts) {
    ByteBuffer out = ByteBuffer.allocate(2 * head.length).order(ByteOrder.LITTLE_ENDIAN);
    out.put(head, 0, FIRST_PART);
    CRC32C checksum = new CRC32C();
    checksum.update(head, 0, FIRST_PART);
    for (byte[] part : parts) {
      int at = out.position();
      out.put(part[0]).putInt(part.length - 1).put(part, 1, part.length - 1);
      checksum.update(out.array(), at, out.position() - at);
      out.putInt((int) checksum.getValue());
    }
    return Arrays.copyOf(out.array(), out.position());
  }

  static byte[] bytes() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    snapshot().writeTo(out, index(), Integer.MAX_VALUE);
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
    return snapshot(new ImageForm(true, Algorithm.SHA512, "/models/é"));
  }

  private static IngestSnapshot snapshot(@Nullable ImageForm form) {
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
            16,
            form);
    LearnedCache nothing =
        new LearnedCache(new Groups(List.of(), -1, 0), 0, null, false, NO_CHUNKS, null);
    return new IngestSnapshot(
        TAKEN,
        List.of(
            new EngineSnapshot(
                new Identity(
                    new EngineId("a", 0), "m", EngineDialect.VLLM, 1, CopyCounting.PER_COPY, ""),
                0,
                3,
                new StreamSnapshot(17, 0x123456789abcdefL, START, new Gap("lost", true), learned)),
            new EngineSnapshot(
                new Identity(
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
                new Identity(
                    new EngineId("u", 0), "", EngineDialect.TRTLLM, 0, CopyCounting.PRESENCE, ""),
                2,
                0,
                null)));
  }
}
