package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.simulator.live.CacheEvent.Removed;
import dev.warmpath.simulator.live.CacheEvent.Stored;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePacker;

/**
 * Writes events as SGLang 0.5.23 does: tagged maps, signed hashes, no groups and no extra keys.
 *
 * <p>Thread-safe.
 */
final class SglangEvents {

  private SglangEvents() {}

  /** Writes one event. */
  public static void write(MessagePacker packer, CacheEvent event) throws IOException {
    if (event instanceof Stored stored) {
      write(packer, stored);
    } else if (event instanceof Removed removed) {
      packer.packMapHeader(3).packString("type").packString("BlockRemoved");
      hashes(packer, List.of(removed.hash()));
      packer.packString("medium").packString(medium(removed.tier()));
    } else {
      packer.packMapHeader(1).packString("type").packString("AllBlocksCleared");
    }
  }

  private static void write(MessagePacker packer, Stored stored) throws IOException {
    String salt =
        stored.extraKeys().isEmpty() ? null : SglangKeys.read(stored.extraKeys().get(0)).salt();
    int fields = 7 + (stored.loraName() == null ? 0 : 1) + (salt == null ? 0 : 1);
    packer.packMapHeader(fields).packString("type").packString("BlockStored");
    hashes(packer, stored.hashes());
    BlockHash parent = stored.parent();
    packer.packString("parent_block_hash");
    if (parent == null) {
      packer.packNil();
    } else {
      packer.packLong(parent.low64());
    }
    packer.packString("token_ids").packArrayHeader(stored.tokenIds().length);
    for (int tokenId : stored.tokenIds()) {
      packer.packInt(tokenId);
    }
    packer.packString("block_size").packInt(stored.group().blockSizeTokens());
    packer.packString("lora_id").packNil();
    packer.packString("medium").packString(medium(stored.tier()));
    optional(packer, "lora_name", stored.loraName());
    optional(packer, "cache_salt", salt);
  }

  private static String medium(StorageTier tier) {
    return tier == StorageTier.GPU ? "GPU" : "CPU_PINNED";
  }

  private static void hashes(MessagePacker packer, List<BlockHash> hashes) throws IOException {
    packer.packString("block_hashes").packArrayHeader(hashes.size());
    for (BlockHash hash : hashes) {
      packer.packLong(hash.low64());
    }
  }

  private static void optional(MessagePacker packer, String field, @Nullable String text)
      throws IOException {
    if (text != null) {
      packer.packString(field).packString(text);
    }
  }
}
