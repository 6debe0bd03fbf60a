package dev.warmpath.simulator.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Payloads that somebody sends who means harm. */
final class HostileBatches {

  private static final int DEEP = 100_000;
  private static final int NOISE_BYTES = 4096;

  private HostileBatches() {}

  static List<byte[]> all() {
    return List.of(
        new byte[0],
        noise(),
        nested(),
        arrayOfTwoBillion(),
        storeOf(p -> p.packArrayHeader(Integer.MAX_VALUE)),
        storeOf(p -> p.packArrayHeader(2).packString("x").packDouble(Double.NaN)));
  }

  private static byte[] noise() {
    byte[] noise = new byte[NOISE_BYTES];
    new Random(1).nextBytes(noise);
    return noise;
  }

  private static byte[] nested() {
    byte[] nested = new byte[DEEP];
    Arrays.fill(nested, (byte) 0x91);
    return nested;
  }

  private static byte[] arrayOfTwoBillion() {
    return packed(p -> p.packArrayHeader(3).packDouble(1).packArrayHeader(Integer.MAX_VALUE));
  }

  private static byte[] storeOf(FaultyEngine.Events hashes) {
    return packed(p -> {
      p.packArrayHeader(3).packDouble(1).packArrayHeader(1);
      p.packArrayHeader(7).packString("BlockStored");
      hashes.pack(p);
    });
  }

  private static byte[] packed(FaultyEngine.Events events) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      events.pack(packer);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }
}
