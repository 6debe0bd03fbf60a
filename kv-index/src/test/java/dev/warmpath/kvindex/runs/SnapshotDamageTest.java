package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.snapshot.SnapshotException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/**
 * What is cut, changed or made up is refused with one exception, or is a sound index all the same.
 */
class SnapshotDamageTest {

  private static final int FORGERIES = 10_000;
  private static final int HEAD_BYTES = 12;
  private static final int PART_HEAD_BYTES = 5;

  /** Six parts with 20 bytes of fields: four counts and ends, and a number of slots. */
  private static final int EMPTY_BYTES = HEAD_BYTES + 6 * (PART_HEAD_BYTES + 4) + 4 * 4;

  private static final IndexLimits LIMITS = new IndexLimits(4, 1 << 24);
  private static final byte[] SNAPSHOT = SnapshotFixture.write(SnapshotFixture.everything());

  @Test
  void aSnapshotCutAnywhereIsRefused() {
    for (int length = 0; length < SNAPSHOT.length; length++) {
      byte[] cut = Arrays.copyOf(SNAPSHOT, length);
      assertThatThrownBy(() -> SnapshotFixture.read(cut, LIMITS))
          .isInstanceOf(SnapshotException.class)
          .hasMessage("at byte " + length + ": cut");
    }
  }

  @Test
  void aSnapshotWithAnyBitChangedIsRefused() {
    for (int bit = 0; bit < 8 * SNAPSHOT.length; bit++) {
      byte[] changed = SNAPSHOT.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertThatThrownBy(() -> SnapshotFixture.read(changed, LIMITS))
          .as("bit %d", bit)
          .isInstanceOf(SnapshotException.class);
    }
  }

  @Test
  void aLaterVersionIsNamed() {
    byte[] later = SNAPSHOT.clone();
    later[8] = 9;
    assertThatThrownBy(() -> SnapshotFixture.read(later, LIMITS))
        .isInstanceOf(SnapshotException.class)
        .hasMessage("version 9, only 6 to 8 are understood");
  }

  @Test
  void somethingElseIsNoSnapshot() {
    assertThatThrownBy(() -> SnapshotFixture.read(new byte[100], LIMITS))
        .isInstanceOf(SnapshotException.class)
        .hasMessage("at byte 0: no snapshot of a router");
  }

  /** Whoever can make a right checksum can lie, but he cannot make an index that breaks. */
  @Test
  void aForgeryIsRefusedOrASoundIndex() throws IOException {
    Random random = new Random(7);
    int refused = 0;
    for (int i = 0; i < FORGERIES; i++) {
      byte[] forged = forge(random);
      try {
        RunKvIndex index = SnapshotFixture.read(forged, LIMITS);
        Invariants.check(index);
        empty(index);
      } catch (SnapshotException e) {
        refused++;
      }
    }
    assertThat(refused).isBetween(FORGERIES / 4, FORGERIES - FORGERIES / 20);
  }

  private static void empty(RunKvIndex index) {
    for (int slot = 0; slot < index.fleet().slots(); slot++) {
      if (index.fleet().layout(slot) != null) {
        index.removeEngine(slot);
      }
    }
    Invariants.check(index);
    assertThat(SnapshotFixture.write(index)).hasSize(EMPTY_BYTES + index.fleet().slots());
  }

  /** Changes a byte or a number, and makes the checksums right again. */
  private static byte[] forge(Random random) {
    ByteBuffer forged = ByteBuffer.wrap(SNAPSHOT.clone()).order(ByteOrder.LITTLE_ENDIAN);
    for (int changes = 1 + random.nextInt(2); changes > 0; changes--) {
      int at = HEAD_BYTES + random.nextInt(SNAPSHOT.length - HEAD_BYTES - 8);
      int from = HEAD_BYTES + random.nextInt(SNAPSHOT.length - HEAD_BYTES - 8);
      switch (random.nextInt(5)) {
        case 0 -> forged.put(at, (byte) random.nextInt());
        case 1 -> forged.put(at, (byte) (forged.get(at) + random.nextInt(3) - 1));
        case 2 -> forged.putInt(at, forged.getInt(from));
        case 3 -> forged.putInt(at, Integer.MAX_VALUE >> random.nextInt(31));
        default -> forged.putLong(at, forged.getLong(from));
      }
    }
    CRC32C checksum = new CRC32C();
    checksum.update(forged.array(), 0, HEAD_BYTES);
    ByteBuffer parts = ByteBuffer.wrap(SNAPSHOT).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = HEAD_BYTES; at < SNAPSHOT.length; ) {
      int bytes = PART_HEAD_BYTES + parts.getInt(at + 1);
      checksum.update(forged.array(), at, bytes);
      forged.putInt(at + bytes, (int) checksum.getValue());
      at += bytes + Integer.BYTES;
    }
    return forged.array();
  }
}
