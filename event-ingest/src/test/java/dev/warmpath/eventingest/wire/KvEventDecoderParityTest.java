package dev.warmpath.eventingest.wire;

import static org.assertj.core.api.Assertions.assertThat;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.KvEventEncoder.Form;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.function.LongFunction;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.assertj.core.api.recursive.comparison.RecursiveComparisonConfiguration;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;

class KvEventDecoderParityTest {

  private static final RecursiveComparisonConfiguration EVENTS_AND_ENVELOPE =
      RecursiveComparisonConfiguration.builder()
          .withIgnoredFields("skipped", "firstProblem")
          .build();

  private final KvEventDecoder decoder = new KvEventDecoder();

  @Property
  void readsWhatMsgpackWrote(@ForAll long seed, @ForAll Form form, @ForAll boolean digests)
      throws Exception {
    Random random = new Random(seed);
    KvEventBatch batch = new RandomBatches(random, form == Form.MAP).batch();
    Disguise disguise = new Disguise(random);
    LongFunction<byte[]> hashes = digests ? hash -> digest(hash, random) : hash -> null;
    byte[] payload = new KvEventEncoder(form, hashes).encode(batch);

    KvEventBatch decoded = decoder.decode(bytes(disguise.batch(value(payload))));

    assertThat(decoded).usingRecursiveComparison(EVENTS_AND_ENVELOPE).isEqualTo(batch);
    assertThat(decoded.skipped().getOrDefault(SkipReason.UNKNOWN_TYPE, 0))
        .isEqualTo(disguise.unknownEvents());
  }

  @Test
  void theEncoderReproducesTheGoldenMapPayload() throws WireException {
    KvEventBatch golden = decoder.decode(GoldenPayloads.MAP);
    LongFunction<byte[]> digests =
        hash -> hash == 0x11111111L ? new byte[] {0x11, 0x11, 0x11, 0x11} : null;
    assertThat(new KvEventEncoder(Form.MAP, digests).encode(golden)).isEqualTo(GoldenPayloads.MAP);
  }

  /** A digest of 8 to 72 bytes, as hash functions and concatenations of them give. */
  private static byte[] digest(long hash, Random random) {
    int before = 8 * random.nextInt(9);
    byte[] bytes = new byte[before + Long.BYTES];
    random.nextBytes(bytes);
    ByteBuffer.wrap(bytes).putLong(before, hash);
    return bytes;
  }

  private static Value value(byte[] payload) throws IOException {
    return MessagePack.newDefaultUnpacker(payload).unpackValue();
  }

  private static byte[] bytes(Value value) throws IOException {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packValue(value);
      return packer.toByteArray();
    }
  }
}
