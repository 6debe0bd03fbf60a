package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.eventingest.wire.KvEventEncoder.Form;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongFunction;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/**
 * Payloads of all kinds that engines send, and what becomes of them on the way through a broken or
 * hostile one; the same for the same random numbers.
 *
 * <p>Confined to its test.
 */
public final class Payloads {

  private final Random random;

  public Payloads(Random random) {
    this.random = random;
  }

  /** A payload that may be whole, mutated, cut, or garbage. */
  public byte[] any() {
    byte[] payload = whole();
    return switch (random.nextInt(6)) {
      case 0, 1 -> payload;
      case 2 -> Arrays.copyOf(payload, random.nextInt(payload.length + 1));
      case 3 -> spliced(payload, whole());
      default -> mutated(payload);
    };
  }

  /** A payload that some engine could send. */
  public byte[] whole() {
    Form form = random.nextBoolean() ? Form.MAP : Form.ARRAY;
    switch (random.nextInt(6)) {
      case 0 -> {
        return bytes(pairs());
      }
      case 1, 2 -> {
        return repeats(form);
      }
      default -> {}
    }
    boolean digests = random.nextInt(3) == 0;
    LongFunction<byte[]> hashes = digests ? this::digest : hash -> null;
    byte[] payload =
        new KvEventEncoder(form, hashes)
            .encode(new RandomBatches(random, form == Form.MAP).batch());
    return random.nextBoolean() ? payload : bytes(new Disguise(random).batch(value(payload)));
  }

  /** Events that differ from the one before in hashes and tokens, and now and then in more. */
  private byte[] repeats(Form form) {
    RandomBatches batches = new RandomBatches(random, form == Form.MAP);
    List<KvEvent> events = new ArrayList<>();
    BlockStored pattern = null;
    for (int i = 2 + random.nextInt(8); i > 0; i--) {
      if (random.nextInt(3) == 0) {
        BlockPlace place = random.nextInt(4) == 0 ? new BlockPlace("CPU", 1, null) : BlockPlace.GPU;
        events.add(new BlockRemoved(new long[] {hash()}, place));
        continue;
      }
      if (pattern == null || random.nextInt(6) == 0) {
        pattern = batches.stored();
      }
      events.add(again(pattern));
    }
    return new KvEventEncoder(form).encode(new KvEventBatch(1.5, 0, events, Map.of(), ""));
  }

  private BlockStored again(BlockStored pattern) {
    int ahead = pattern.tokens().lookaheadTokens();
    int count = Math.max(1, pattern.tokens().blockSizeTokens());
    int[] ids = random.ints(count + ahead, 0, 1 << random.nextInt(31)).toArray();
    BlockKeys keys = pattern.keys();
    if (keys.perBlock().size() != 1) {
      keys = new BlockKeys(keys.loraName(), keys.cacheSalt(), List.of(), Naming.DENSE);
    }
    return new BlockStored(
        new long[] {hash()},
        random.nextInt(8) == 0 ? null : (Long) hash(),
        new BlockTokens(ids, count, ahead, Naming.DENSE),
        keys,
        pattern.place(),
        pattern.spec());
  }

  /** Mostly one of 8 bytes. */
  private long hash() {
    return random.nextLong() >> (random.nextInt(6) == 0 ? random.nextInt(64) : 0);
  }

  private byte[] mutated(byte[] payload) {
    for (int i = random.nextInt(5); i >= 0; i--) {
      payload[random.nextInt(payload.length)] =
          random.nextInt(3) == 0 ? (byte) (0xc0 + random.nextInt(32)) : (byte) random.nextInt();
    }
    return payload;
  }

  private byte[] spliced(byte[] head, byte[] tail) {
    int from = random.nextInt(tail.length);
    int length = random.nextInt(head.length + 1);
    byte[] both = Arrays.copyOf(head, length + tail.length - from);
    System.arraycopy(tail, from, both, length, tail.length - from);
    return both;
  }

  /** A digest of 8 to 72 bytes, as hash functions and concatenations of them give. */
  private byte[] digest(long hash) {
    int before = 8 * random.nextInt(9);
    byte[] bytes = new byte[before + Long.BYTES];
    random.nextBytes(bytes);
    ByteBuffer.wrap(bytes).putLong(before, hash);
    return bytes;
  }

  /** SGLang with EAGLE: pairs of tokens, sometimes with a flaw. */
  private Value pairs() {
    int count = 1 + random.nextInt(6);
    Value[] tokens = new Value[count];
    Value[] hashes = new Value[count];
    for (int i = 0; i < count; i++) {
      int flaw = random.nextInt(12) == 0 ? 1 : 0;
      tokens[i] = ValueFactory.newArray(integer(40 + i + flaw), integer(41 + i));
      hashes[i] = integer(random.nextLong() >> random.nextInt(64));
    }
    Map<Value, Value> fields =
        Map.of(
            text("type"), text("BlockStored"),
            text("block_hashes"), ValueFactory.newArray(hashes),
            text("parent_block_hash"), random.nextBoolean() ? ValueFactory.newNil() : integer(-3),
            text("token_ids"), ValueFactory.newArray(tokens),
            text("block_size"), integer(random.nextInt(3)),
            text("lora_name"), ValueFactory.newMap(text("cache_salt"), text("s")));
    Value event = ValueFactory.newMap(fields);
    return ValueFactory.newArray(
        ValueFactory.newFloat(1.5), ValueFactory.newArray(event, event), integer(0));
  }

  private static Value integer(long value) {
    return ValueFactory.newInteger(value);
  }

  private static Value text(String text) {
    return ValueFactory.newString(text);
  }

  private static Value value(byte[] payload) {
    try {
      return MessagePack.newDefaultUnpacker(payload).unpackValue();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] bytes(Value value) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packValue(value);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
