package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.AllBlocksCleared;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.kvindex.block.ExtraKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Makes batches of every kind that engines send, the same for the same random numbers. */
final class RandomBatches {

  private final Random random;
  private final boolean mapsOnly;

  /**
   * @param mapsOnly whether to use fields that only maps have
   */
  RandomBatches(Random random, boolean mapsOnly) {
    this.random = random;
    this.mapsOnly = mapsOnly;
  }

  KvEventBatch batch() {
    List<KvEvent> events = Stream.generate(this::event).limit(random.nextInt(6)).toList();
    return new KvEventBatch(random.nextDouble(), random.nextInt(4) - 1, events, Map.of(), "");
  }

  private KvEvent event() {
    return switch (random.nextInt(5)) {
      case 0 -> new AllBlocksCleared();
      case 1 -> new BlockRemoved(hashes(random.nextInt(4)), place());
      default -> stored();
    };
  }

  BlockStored stored() {
    int blocks = random.nextInt(4);
    String lora = chance(3) ? text() : null;
    return new BlockStored(
        hashes(blocks),
        chance(2) ? hash() : null,
        tokens(blocks),
        keys(blocks, lora),
        place(),
        spec());
  }

  private BlockTokens tokens(int blocks) {
    int size = 1 + random.nextInt(4);
    int count = chance(4) ? random.nextInt(9) : blocks * size;
    boolean ahead = chance(2) && blocks > 0 && count == blocks * size;
    int lookahead = ahead ? 1 + random.nextInt(3) : 0;
    int[] ids = random.ints(count + lookahead, 0, 1 << random.nextInt(31)).toArray();
    return new BlockTokens(ids, size, lookahead, Naming.DENSE);
  }

  private BlockKeys keys(int blocks, @Nullable String lora) {
    String salt = mapsOnly && chance(4) ? text() : null;
    List<List<ExtraKey>> perBlock = new ArrayList<>();
    if (chance(2)) {
      for (int i = 0; i < blocks; i++) {
        perBlock.add(blockKeys(lora));
      }
    }
    return new BlockKeys(lora, salt, perBlock, Naming.DENSE);
  }

  private List<ExtraKey> blockKeys(@Nullable String lora) {
    List<ExtraKey> keys = new ArrayList<>();
    if (lora != null) {
      keys.add(new ExtraKey.Lora(lora));
    }
    if (chance(3)) {
      keys.add(new ExtraKey.Multimodal(text(), random.nextInt()));
    }
    if (chance(3)) {
      keys.add(new ExtraKey.CacheSalt("salt " + text()));
    }
    if (chance(3)) {
      keys.add(new ExtraKey.PromptEmbeds("00ff7f"));
    }
    return keys;
  }

  private BlockPlace place() {
    String locality = chance(3) ? "LOCAL" : null;
    String ownership = chance(4) ? "kvcr" : null;
    return new BlockPlace(chance(2) ? "GPU" : text(), random.nextInt(9), locality, ownership);
  }

  private GroupSpec spec() {
    int window = chance(2) ? 1 + random.nextInt(9999) : 0;
    return new GroupSpec(chance(2) ? "sliding_window" : null, window);
  }

  private long[] hashes(int count) {
    return Stream.generate(this::hash).limit(count).mapToLong(Long::longValue).toArray();
  }

  private long hash() {
    return random.nextLong() >> random.nextInt(64);
  }

  private String text() {
    return "é" + "x".repeat(random.nextInt(40));
  }

  private boolean chance(int oneIn) {
    return random.nextInt(oneIn) == 0;
  }
}
