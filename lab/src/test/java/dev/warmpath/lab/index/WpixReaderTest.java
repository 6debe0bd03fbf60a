package dev.warmpath.lab.index;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class WpixReaderTest {

  @TempDir Path folder;

  @Test
  void readsEachKindOfRecord() throws IOException {
    Corpus corpus = corpus(WpixReaderTest::everything);
    assertThat(corpus.workers()).isEqualTo(3);
    assertThat(corpus.records()).isEqualTo(7);
    assertThat(corpus.queries()).isEqualTo(2);
    assertThat(corpus.eventBlocks()).isEqualTo(5);
    // worker 1 held 3 of 3, lost the last one; worker 2 held the first one until it was cleared
    assertThat(corpus.answers().interleaved()).isEqualTo(new Sums(3 + 2, 3 + 2, 2));
    assertThat(corpus.answers().atEnd()).isEqualTo(new Sums(2 + 2, 2 + 2, 2));
    assertThat(corpus.answers().memberships()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 5, 7, 9, 12, 20, 24, 30, 71, 74})
  void namesFileAndOffsetWhenCutShort(int bytes) throws IOException {
    byte[] whole = bytes(WpixReaderTest::everything);
    Path file = folder.resolve("short.wpix");
    Files.write(file, Arrays.copyOf(whole, bytes));
    assertThatThrownBy(() -> Corpus.of(new WpixFile(file)))
        .isInstanceOf(WpixFile.WpixException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining("offset ")
        .hasMessageContaining("cut short in ");
  }

  @Test
  void refusesOtherFilesAndVersions() throws IOException {
    assertRefused(out -> out.putInt(0x04034b50).putInt(1), 0, "does not begin with 'WPIX'");
    assertRefused(out -> out.putInt(WpixFile.Format.MAGIC).putInt(2), 4, "version 2, not 1");
  }

  @Test
  void refusesUnknownKindsAndSizesOutOfBounds() throws IOException {
    assertRefused(out -> header(out).put((byte) 9).putInt(0), 8, "kind 9");
    assertRefused(out -> header(out).put((byte) 3).putInt(65_536), 9, "worker 65536");
    assertRefused(out -> header(out).put((byte) 3).putInt(-1), 9, "worker 4294967295");
    assertRefused(
        out -> header(out).put((byte) 2).putInt(0).putInt((1 << 20) + 1), 13, "1048577 blocks");
    assertRefused(out -> header(out).put((byte) 1).putInt(0).putInt(-1), 13, "4294967295 blocks");
  }

  @Test
  void refusesStoresThatTwoCountsWouldTellApart() throws IOException {
    assertRefused(
        out -> {
          store(header(out), 0, 0, 11, 101);
          store(out, 0, 0, 11, 101);
        },
        "record 1: worker 0 stores a block that it holds 000000000000000b");
    assertRefused(out -> store(header(out), 0, 99, 11, 101), "worker 0 does not hold the parent");
    assertRefused(
        out -> header(out).put((byte) 1).putInt(0).putInt(1).putLong(5),
        "worker 0 does not hold the removed block");
  }

  private void assertRefused(Consumer<ByteBuffer> content, int offset, String problem)
      throws IOException {
    assertRefused(content, "offset " + offset + ": ");
    assertRefused(content, problem);
  }

  private void assertRefused(Consumer<ByteBuffer> content, String problem) throws IOException {
    Path file = folder.resolve("refused.wpix");
    Files.write(file, bytes(content));
    assertThatThrownBy(() -> Corpus.of(new WpixFile(file)))
        .isInstanceOf(WpixFile.WpixException.class)
        .hasMessageContaining(file.toString())
        .hasMessageContaining(problem);
  }

  private Corpus corpus(Consumer<ByteBuffer> content) throws IOException {
    Path file = folder.resolve("corpus.wpix");
    Files.write(file, bytes(content));
    return Corpus.of(new WpixFile(file));
  }

  private static byte[] bytes(Consumer<ByteBuffer> content) {
    ByteBuffer out = ByteBuffer.allocate(1024).order(ByteOrder.LITTLE_ENDIAN);
    content.accept(out);
    return Arrays.copyOf(out.array(), out.position());
  }

  private static void everything(ByteBuffer out) {
    store(header(out), 1, 0, 11, 101, 12, 102);
    store(out, 1, 12, 13, 103);
    out.put((byte) 2).putInt(0).putInt(3).putLong(101).putLong(102).putLong(103);
    out.put((byte) 1).putInt(1).putInt(1).putLong(13);
    store(out, 2, 0, 21, 101);
    out.put((byte) 3).putInt(2);
    out.put((byte) 2).putInt(0).putInt(2).putLong(101).putLong(102);
  }

  private static ByteBuffer header(ByteBuffer out) {
    return out.putInt(WpixFile.Format.MAGIC).putInt(WpixFile.Format.VERSION);
  }

  private static void store(ByteBuffer out, int worker, long parent, long... hashes) {
    out.put((byte) 0).putInt(worker).putLong(parent).putInt(hashes.length / 2);
    for (long hash : hashes) {
      out.putLong(hash);
    }
  }
}
