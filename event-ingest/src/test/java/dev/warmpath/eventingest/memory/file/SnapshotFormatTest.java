package dev.warmpath.eventingest.memory.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.eventingest.EngineDialect;
import dev.warmpath.eventingest.EngineId;
import dev.warmpath.eventingest.apply.LearnedCache;
import dev.warmpath.eventingest.knowledge.Gap;
import dev.warmpath.eventingest.memory.EngineIdentity;
import dev.warmpath.eventingest.memory.EngineMemory;
import dev.warmpath.eventingest.memory.IngestMemory;
import dev.warmpath.eventingest.memory.file.SnapshotFormat.Content;
import dev.warmpath.eventingest.memory.file.SnapshotRefusedException.Reason;
import dev.warmpath.eventingest.stream.StreamMemory;
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
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

final class SnapshotFormatTest {

  private static final IndexLimits LIMITS = IndexLimits.unbounded(100);
  private static final double START = 1_799_999_999.25;
  private static final ChainSpace SPACE = new ChainSpace("m", 4, 1);

  @Test
  void everythingComesBack() throws IOException {
    Content content = read(bytes());
    assertThat(content.memory()).isEqualTo(memory());
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
    bytes[11] = 4;
    assertRefused(bytes, "version 4", Reason.OTHER_VERSION);
    bytes[11] = 0;
    assertRefused(bytes, "version 0", Reason.OTHER_VERSION);
  }

  @Test
  void firstVersionIsReadWithoutTheStartOfProcesses() throws IOException {
    StreamMemory stream = read(firstVersion()).memory().engines().get(0).stream();
    assertThat(Objects.requireNonNull(stream).startSeconds()).isNaN();
    assertThat(stream.lastSequence()).isEqualTo(17);
    assertThat(stream.gap()).isEqualTo(new Gap("lost", true));
    assertThat(stream.learned().recalled()).isFalse();
  }

  /** The bytes as they were before the start of the process was among them. */
  private static byte[] firstVersion() throws IOException {
    ByteBuffer now = ByteBuffer.wrap(bytes());
    int memory = now.getInt(12);
    int at = SnapshotFormat.HEAD_BYTES;
    while (now.getLong(at) != Double.doubleToLongBits(START)) {
      at++;
    }
    int flag = at;
    while (now.getInt(flag + 1) != 2 || now.get(flag + 5) != (byte) 0xC3) {
      flag++; // before the next engine's name
    }
    int left = Double.BYTES + 1;
    ByteBuffer then = ByteBuffer.allocate(now.capacity() - left);
    then.put(now.array(), 0, at).put(now.array(), at + 8, flag - at - 8);
    then.put(now.array(), flag + 1, now.capacity() - flag - 1);
    then.putInt(8, 1).putInt(12, memory - left);
    CRC32C checksum = new CRC32C();
    int end = SnapshotFormat.HEAD_BYTES + memory - left;
    checksum.update(then.array(), 0, end);
    return then.putInt(end, (int) checksum.getValue()).array();
  }

  @Test
  void moreThanASnapshotIsRefused() throws IOException {
    byte[] bytes = bytes();
    assertRefused(Arrays.copyOf(bytes, bytes.length + 1), "longer", Reason.DAMAGED);
  }

  @Test
  void engineWithoutASlotIsRefused() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(memory(), new RunKvIndex(LIMITS), out);
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

  private static Content read(byte[] bytes) throws IOException {
    return SnapshotFormat.read(new ByteArrayInputStream(bytes), LIMITS);
  }

  static byte[] bytes() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    SnapshotFormat.write(memory(), index(), out);
    return out.toByteArray();
  }

  static RunKvIndex index() {
    RunKvIndex index = new RunKvIndex(LIMITS);
    index.addEngine(CopyCounting.PER_COPY);
    index.addEngine(CopyCounting.PRESENCE);
    StoredBlocks blocks = new StoredBlocks();
    blocks.atRoot(StorageTier.GPU, 0, SPACE.rootKey());
    blocks.add(11, 1);
    blocks.add(12, 2);
    blocks.add(13, 3);
    index.stored(0, blocks);
    return index;
  }

  static IngestMemory memory() {
    LearnedCache learned =
        new LearnedCache(
            List.of(
                new CacheGroup(0, CacheGroup.Kind.FULL_ATTENTION, 4, 0),
                new CacheGroup(2, CacheGroup.Kind.SLIDING_WINDOW, 4, 128)),
            3,
            0,
            SPACE,
            true);
    return new IngestMemory(
        Instant.ofEpochMilli(1_800_000_000_000L),
        List.of(
            new EngineMemory(
                new EngineIdentity(
                    new EngineId("a", 0), "m", EngineDialect.VLLM, 1, CopyCounting.PER_COPY),
                0,
                3,
                new StreamMemory(17, 0x123456789abcdefL, START, new Gap("lost", true), learned)),
            new EngineMemory(
                new EngineIdentity(
                    new EngineId("é", 7), "", EngineDialect.SGLANG, 0, CopyCounting.PER_COPY),
                1,
                0,
                null)));
  }
}
