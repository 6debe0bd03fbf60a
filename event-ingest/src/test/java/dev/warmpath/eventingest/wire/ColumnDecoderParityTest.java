package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.warmpath.eventingest.wire.KvEventEncoder.Form;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

final class ColumnDecoderParityTest {

  @Property(tries = 300)
  void readsWhatObjectsAndMsgpackRead(@ForAll long seed) {
    Random random = new Random(seed);
    Payloads payloads = new Payloads(random);
    ThreeDecoders decoders = new ThreeDecoders(); // one for many: nothing may stay from before
    for (int i = 0; i < 20; i++) {
      decoders.agree(payloads.any());
    }
  }

  @Test
  void agreesOnEveryTruncationOfTheGoldenPayloads() {
    ThreeDecoders decoders = new ThreeDecoders();
    for (byte[] golden : new byte[][] {GoldenPayloads.ARRAY, GoldenPayloads.MAP}) {
      for (int length = 0; length <= golden.length; length++) {
        decoders.agree(Arrays.copyOf(golden, length));
      }
    }
    assertThat(decoders.accepted()).isEqualTo(2);
  }

  @Test
  void allocatesNothingForBatchesLikeThoseBefore() throws WireException {
    byte[] payload =
        new KvEventEncoder(Form.MAP).encode(new ObjectDecoder().decode(GoldenPayloads.MAP));
    ColumnDecoder decoder = new ColumnDecoder();
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    byte[] plain = plainStores();
    decoder.decode(payload);
    decoder.decode(plain);
    long before = threads.getCurrentThreadAllocatedBytes();
    for (int i = 0; i < 1000; i++) {
      decoder.decode(plain);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated).isLessThan(16L << 10);
  }

  /** As vLLM sends plain text: a store and a removal, every key nil. */
  private static byte[] plainStores() {
    return ColumnsOf.payload(64);
  }
}
