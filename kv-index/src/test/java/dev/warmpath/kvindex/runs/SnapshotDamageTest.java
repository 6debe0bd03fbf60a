package dev.warmpath.kvindex.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.snapshot.SnapshotException;
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

  private static final int FORGERIES = 20_000;
  private static final int HEAD_BYTES = 12;

  private static final IndexLimits LIMITS = new IndexLimits(4, 1 << 24);
  private static final byte[] SNAPSHOT = SnapshotFixture.write(SnapshotFixture.everything());

  @Test
  void aSnapshotCutAnywhereIsRefused() {
    for (int length = 0; length < SNAPSHOT.length; length++) {
      byte[] cut = Arrays.copyOf(SNAPSHOT, length);
      assertThatThrownBy(() -> SnapshotFixture.read(cut, LIMITS))
          .isInstanceOf(SnapshotException.class)
          .hasMessage("snapshot at byte " + length + ": cut");
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
    later[8] = 2;
    assertThatThrownBy(() -> SnapshotFixture.read(later, LIMITS))
        .isInstanceOf(SnapshotException.class)
        .hasMessage("snapshot at byte 8: version 2, only 1 is understood");
  }

  @Test
  void somethingElseIsNoSnapshot() {
    assertThatThrownBy(() -> SnapshotFixture.read(new byte[100], LIMITS))
        .isInstanceOf(SnapshotException.class)
        .hasMessage("snapshot at byte 0: no snapshot of an index");
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
    assertThat(refused).isBetween(FORGERIES / 4, FORGERIES - 1000);
  }

  private static void empty(RunKvIndex index) {
    for (int slot = 0; slot < index.fleet().slots(); slot++) {
      if (index.fleet().layout(slot) != null) {
        index.removeEngine(slot);
      }
    }
    Invariants.check(index);
    assertThat(SnapshotFixture.write(index)).hasSize(44 + index.fleet().slots());
  }

  /** Changes a byte or a number, and makes the only chunk's checksum right again. */
  private static byte[] forge(Random random) {
    ByteBuffer forged = ByteBuffer.wrap(SNAPSHOT.clone()).order(ByteOrder.LITTLE_ENDIAN);
    int length = forged.getInt(HEAD_BYTES);
    assertThat(SNAPSHOT).hasSize(HEAD_BYTES + 4 + length + 4 + 8);
    for (int changes = 1 + random.nextInt(2); changes > 0; changes--) {
      int at = HEAD_BYTES + 4 + random.nextInt(length - 8);
      switch (random.nextInt(5)) {
        case 0 -> forged.put(at, (byte) random.nextInt());
        case 1 -> forged.put(at, (byte) (forged.get(at) + random.nextInt(3) - 1));
        case 2 -> forged.putInt(at, forged.getInt(HEAD_BYTES + 4 + random.nextInt(length - 4)));
        case 3 -> forged.putInt(at, Integer.MAX_VALUE >> random.nextInt(31));
        default -> forged.putLong(at, forged.getLong(HEAD_BYTES + 4 + random.nextInt(length - 8)));
      }
    }
    CRC32C checksum = new CRC32C();
    checksum.update(forged.array(), 0, HEAD_BYTES + 4 + length);
    forged.putInt(HEAD_BYTES + 4 + length, (int) checksum.getValue());
    checksum.update(new byte[4]);
    forged.putInt(HEAD_BYTES + 4 + length + 4 + 4, (int) checksum.getValue());
    return forged.array();
  }
}
