package dev.warmpath.simulator.capture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * An engine reduced to its cache and its stream: stores prompts, evicts blocks, publishes batches,
 * and knows what it would reuse.
 *
 * <p>Confined to its test.
 */
final class TestEngine {

  /** Tokens a block. */
  static final int BLOCK = 4;

  private final Map<Long, Integer> held = new LinkedHashMap<>();
  private final List<byte[]> published = new ArrayList<>();
  private double clock = 1_000_000;

  /** Every payload of this lifetime; the index is the sequence number. */
  List<byte[]> published() {
    return published;
  }

  byte[] payload(int sequence) {
    return published.get(sequence);
  }

  /** Serves a prompt: stores what is not held, the last block always. */
  TestEngine serve(int... prompt) {
    int blocks = prompt.length / BLOCK;
    int first = Math.min(reusable(prompt) / BLOCK, blocks - 1);
    if (blocks == 0) {
      return this;
    }
    publish(packer -> {
      packer.packArrayHeader(1);
      packer.packArrayHeader(7).packString("BlockStored").packArrayHeader(blocks - first);
      for (int block = first; block < blocks; block++) {
        held.merge(hash(prompt, block), 1, Integer::sum);
        packer.packLong(hash(prompt, block));
      }
      if (first == 0) {
        packer.packNil();
      } else {
        packer.packLong(hash(prompt, first - 1));
      }
      packer.packArrayHeader((blocks - first) * BLOCK);
      for (int i = first * BLOCK; i < blocks * BLOCK; i++) {
        packer.packInt(prompt[i]);
      }
      packer.packInt(BLOCK).packNil().packString("GPU");
    });
    return this;
  }

  /** Drops one copy of some block. */
  TestEngine evict(Random random) {
    if (!held.isEmpty()) {
      List<Long> hashes = new ArrayList<>(held.keySet());
      evict(hashes.get(random.nextInt(hashes.size())));
    }
    return this;
  }

  /** Empties the cache. */
  TestEngine clear() {
    held.clear();
    publish(packer -> packer.packArrayHeader(1).packArrayHeader(1).packString("AllBlocksCleared"));
    return this;
  }

  /** A new process: nothing held, nothing published. */
  TestEngine restart() {
    held.clear();
    published.clear();
    return this;
  }

  /** Tokens of the prompt that would be reused. */
  int reusable(int... prompt) {
    int blocks = 0;
    while ((blocks + 1) * BLOCK < prompt.length && held.containsKey(hash(prompt, blocks))) {
      blocks++;
    }
    return blocks * BLOCK;
  }

  private void evict(long hash) {
    held.computeIfPresent(hash, (key, copies) -> copies == 1 ? null : copies - 1);
    publish(packer ->
        packer
            .packArrayHeader(1)
            .packArrayHeader(3)
            .packString("BlockRemoved")
            .packArrayHeader(1)
            .packLong(hash)
            .packString("GPU"));
  }

  private static long hash(int[] prompt, int block) {
    long hash = 0xcbf29ce484222325L;
    for (int token : Arrays.copyOf(prompt, (block + 1) * BLOCK)) {
      hash = (hash ^ token) * 0x100000001b3L;
      hash ^= hash >>> 29;
    }
    return hash;
  }

  private interface Events {
    void pack(MessageBufferPacker packer) throws IOException;
  }

  private void publish(Events events) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(clock++);
      events.pack(packer);
      packer.packInt(0);
      published.add(packer.toByteArray());
    } catch (IOException e) {
      throw new UncheckedIOException("a buffer in memory", e);
    }
  }
}
