package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.KvEventEncoder.Form;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KvEventDecoderHostileTest {

  /** What a decode costs that finds nothing, with room for the garbage of reflection and logs. */
  private static final long FIXED_BYTES = 8 << 10;

  /** A nil in an array becomes at most an object of this size and its place in a list. */
  private static final long BYTES_PER_BYTE = 64;

  private final KvEventDecoder decoder = new KvEventDecoder();

  @Property(tries = 2000)
  void mutationsGiveABatchOrAWireException(@ForAll long seed, @ForAll Form form) {
    Random random = new Random(seed);
    KvEventBatch batch = new RandomBatches(random, form == Form.MAP).batch();
    byte[] payload = new KvEventEncoder(form).encode(batch);
    for (int i = random.nextInt(5); i >= 0; i--) {
      payload[random.nextInt(payload.length)] = (byte) random.nextInt();
    }
    survive(payload);
  }

  @Property(tries = 2000)
  void garbageGivesABatchOrAWireException(@ForAll byte[] garbage) {
    survive(garbage);
    byte[] event = concat("93cb3ff800000000000091", garbage);
    survive(event);
    survive(concat("93cb3ff80000000000009198ab426c6f636b53746f72656491", garbage));
  }

  @Test
  void everyTruncationIsAWireException() {
    for (byte[] golden : new byte[][] {GoldenPayloads.ARRAY, GoldenPayloads.MAP}) {
      for (int length = 0; length < golden.length; length++) {
        byte[] cut = Arrays.copyOf(golden, length);
        assertThatThrownBy(() -> decoder.decode(cut)).isInstanceOf(WireException.class);
      }
    }
  }

  @Test
  void somethingBehindTheBatchIsAWireException() {
    byte[] longer = Arrays.copyOf(GoldenPayloads.MAP, GoldenPayloads.MAP.length + 1);
    assertThatThrownBy(() -> decoder.decode(longer))
        .isInstanceOf(WireException.class)
        .hasMessageContaining("behind the batch");
  }

  @ParameterizedTest
  @ValueSource(strings = {"91", "81a161", "dd00000001", "c7"})
  void nestingCostsNothing(String level) {
    String nested = level.repeat(100_000);
    survive(HexFormat.of().parseHex(nested));
    survive(HexFormat.of().parseHex("92c091" + nested + "c0"));
    survive(HexFormat.of().parseHex("92c09192ab426c6f636b53746f726564" + nested + "c0"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ddffffffff", // an array of 2^32 - 1 elements in place of the batch
        "dfffffffff",
        "92c0ddffffffff", // of the events
        "92c091ddffffffff", // of an event
        "92c09192ab426c6f636b53746f726564ddffffffff", // of the hashes
        "92c09192ab426c6f636b53746f726564dd7fffffff01",
        "92c09192ac426c6f636b52656d6f766564c6ffffffff", // a digest of 4 GB
        "92c09192dbffffffff" // a type of 4 GB
      })
  void declaredLengthsAreNotBelieved(String payload) {
    survive(HexFormat.of().parseHex(payload));
  }

  /** Lookahead entries multiply: few, each declared as long as the rest of the payload. */
  @Test
  void lookaheadIsSizedByWhatIsThere() {
    String hashes = "dc0100" + "01".repeat(256);
    String tokens = "dc0100" + "01".repeat(256);
    String entries = "dc0100" + "90".repeat(255) + "dc8000" + "01".repeat(0x8000);
    survive(
        HexFormat.of()
            .parseHex(
                "92c09186a474797065ab426c6f636b53746f726564"
                    + ("ac626c6f636b5f686173686573" + hashes)
                    + "b1706172656e745f626c6f636b5f68617368c0"
                    + ("a9746f6b656e5f696473" + tokens)
                    + "aa626c6f636b5f73697a6501"
                    + ("b36c6f6f6b61686561645f746f6b656e5f696473" + entries)));
  }

  /** Decodes; whatever comes of it must be usable and must not have cost more than its bytes. */
  private void survive(byte[] payload) {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    decodeAny(payload); // classes load on first use
    long before = threads.getCurrentThreadAllocatedBytes();
    KvEventBatch batch = decodeAny(payload);
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;

    assertThat(allocated).isLessThanOrEqualTo(FIXED_BYTES + BYTES_PER_BYTE * payload.length);
    if (batch != null) {
      batch.events().forEach(KvEventDecoderHostileTest::use);
    }
  }

  private KvEventBatch decodeAny(byte[] payload) {
    try {
      return decoder.decode(payload);
    } catch (WireException e) {
      assertThat(e.byteOffset()).isBetween(0, payload.length);
      return null;
    }
  }

  private static void use(KvEvent event) {
    if (event instanceof BlockStored stored && stored.naming() == Naming.DENSE) {
      for (int i = 0; i < stored.blockHashes().length; i++) {
        stored.localHash(i);
      }
    }
  }

  private static byte[] concat(String start, byte[] end) {
    return HexFormat.of().parseHex(start + HexFormat.of().formatHex(end));
  }
}
