package dev.warmpath.kvindex.block;

import static org.assertj.core.api.Assertions.assertThat;

import com.dynatrace.hash4j.hashing.Hashing;
import dev.warmpath.kvindex.block.ExtraKey.CacheSalt;
import dev.warmpath.kvindex.block.ExtraKey.Lora;
import dev.warmpath.kvindex.block.ExtraKey.Multimodal;
import dev.warmpath.kvindex.block.ExtraKey.PromptEmbeds;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BlockHasherTest {

  /** Strings that look like the lengths, kinds and offsets of the keys around them. */
  private static final List<String> TEXTS =
      List.of("", "a", "aa", "\0", "\1", "\0\0", "\1\0\0", "\2\0", "a\1\0\0", "\1\0\0\0a");

  @Property(tries = 200)
  void dependsOnEachToken(
      @ForAll @Size(16) int[] tokens, @ForAll int other, @ForAll @Size(1) List<Byte> position) {
    int at = position.get(0) & 15;
    int[] changed = tokens.clone();
    changed[at] = other;
    assertThat(plain(changed) == plain(tokens)).isEqualTo(other == tokens[at]);
  }

  @Test
  void hashesTheTokensLittleEndianBytes() {
    for (int length = 0; length < 300; length++) {
      int[] tokens = new Random(length).ints(length).toArray();
      ByteBuffer bytes = ByteBuffer.allocate(4 * length).order(ByteOrder.LITTLE_ENDIAN);
      bytes.asIntBuffer().put(tokens);
      assertThat(plain(tokens)).isEqualTo(Hashing.xxh3_64().hashBytesToLong(bytes.array()));
    }
  }

  @Test
  void readsTokensAtAnyByte() {
    int[] tokens = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c};
    for (int at = 0; at < 8; at++) {
      assertThat(BlockHasher.TokenBytes.INSTANCE.getByte(tokens, at)).isEqualTo((byte) at);
      assertThat(BlockHasher.TokenBytes.INSTANCE.getInt(tokens, at))
          .isEqualTo(0x03020100 + at * 0x01010101);
      assertThat(BlockHasher.TokenBytes.INSTANCE.getLong(tokens, at))
          .isEqualTo(0x0706050403020100L + at * 0x0101010101010101L);
    }
  }

  @Test
  void hashesOnlyTheBlockAsked() {
    int[] prompt = {9, 1, 2, 3, 9};
    assertThat(BlockHasher.localHash(prompt, 1, 3, List.of()))
        .isEqualTo(BlockHasher.localHash(new int[] {1, 2, 3}, 0, 3, List.of()))
        .isNotEqualTo(BlockHasher.localHash(new int[] {1, 2, 3}, 0, 2, List.of()));
  }

  @Test
  void noTwoListsOfKeysAreOne() {
    List<ExtraKey> keys = allKeys();
    Set<Long> hashes = new HashSet<>();
    hashes.add(withKeys(List.of()));
    for (ExtraKey first : keys) {
      hashes.add(withKeys(List.of(first)));
      for (ExtraKey second : keys) {
        hashes.add(withKeys(List.of(first, second)));
      }
    }
    assertThat(hashes).hasSize(1 + keys.size() + keys.size() * keys.size());
  }

  @Test
  void tokensCannotPassForKeys() {
    int[] longer = {7, 1, 1};
    assertThat(BlockHasher.localHash(longer, 0, 3, List.of()))
        .isNotEqualTo(BlockHasher.localHash(longer, 0, 1, List.of(new Multimodal("\1", 1))));
  }

  @Test
  void blockKeyDependsOnPrefixAndContent() {
    assertThat(Set.of(key(1, 2), key(2, 1), key(1, 1), key(2, 2), key(0, 0))).hasSize(5);
  }

  private static List<ExtraKey> allKeys() {
    List<ExtraKey> keys = new ArrayList<>();
    for (String text : TEXTS) {
      keys.add(new Lora(text));
      keys.add(new CacheSalt(text));
      keys.add(new PromptEmbeds(text));
      for (int offset : new int[] {-1, 0, 1, 2, 256}) {
        keys.add(new Multimodal(text, offset));
      }
    }
    return keys;
  }

  private static long plain(int[] tokens) {
    return BlockHasher.localHash(tokens, 0, tokens.length, List.of());
  }

  private static long withKeys(List<ExtraKey> keys) {
    return BlockHasher.localHash(new int[] {7}, 0, 1, keys);
  }

  private static long key(long parent, long localHash) {
    return BlockHasher.blockKey(parent, localHash);
  }
}
