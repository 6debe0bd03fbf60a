package dev.warmpath.simulator.live;

import dev.warmpath.kvindex.CacheGroup;
import dev.warmpath.kvindex.StorageTier;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.simulator.live.CacheEvent.Put;
import dev.warmpath.simulator.live.CacheEvent.Removed;
import dev.warmpath.simulator.live.CacheEvent.Stored;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/**
 * Writes the events of a step as vLLM's or SGLang's {@code EventBatch}.
 *
 * <p>Uses msgpack-core, so that payloads do not come from the code that reads them in ingest.
 *
 * <p>Confined to the publisher's thread.
 */
public final class EventEncoder {

  private final WireForm form;
  private final boolean bytesHashes;
  private final boolean namesGroups;
  private final Map<String, Integer> loraIds = new HashMap<>();

  /**
   * @param bytesHashes whole digests as bytes, not their low 64 bits as integers
   * @param namesGroups whether events say their group; vLLM to 0.19 did not
   */
  public EventEncoder(WireForm form, boolean bytesHashes, boolean namesGroups) {
    this.form = form;
    this.bytesHashes = bytesHashes;
    this.namesGroups = namesGroups;
  }

  /** The payload of one batch. */
  public byte[] encode(double timestampSeconds, List<CacheEvent> events, int dataParallelRank) {
    try (MessageBufferPacker packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packDouble(timestampSeconds).packArrayHeader(events.size());
      for (CacheEvent event : events) {
        write(packer, event);
      }
      packer.packInt(dataParallelRank);
      return packer.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException("writing to memory", e);
    }
  }

  private void write(MessagePacker packer, CacheEvent event) throws IOException {
    if (event instanceof Put put) {
      write(packer, put);
    } else if (form.isSglang()) {
      SglangEvents.write(packer, event);
    } else if (event instanceof Stored stored) {
      if (form == WireForm.ARRAY) {
        writeArray(packer, stored);
      } else {
        writeMap(packer, stored);
      }
    } else if (event instanceof Removed removed) {
      write(packer, removed);
    } else if (form == WireForm.ARRAY) {
      packer.packArrayHeader(1).packString("AllBlocksCleared");
    } else {
      packer.packMapHeader(1).packString("type").packString("AllBlocksCleared");
    }
  }

  private void write(MessagePacker packer, Put put) throws IOException {
    packer.packMapHeader(8).packString("type").packString("BlockStored");
    hashes(packer.packString("block_hashes"), List.of(put.hash()));
    hash(packer.packString("parent_block_hash"), put.parent());
    tokens(packer.packString("token_ids"), put.tokenIds());
    packer.packString("block_size").packInt(put.group().blockSizeTokens());
    packer.packString("lora_id").packNil();
    packer.packString("medium").packString("cpu");
    packer.packString("group_idx").packInt(put.group().index());
  }

  private void writeArray(MessagePacker packer, Stored stored) throws IOException {
    packer.packArrayHeader(namesGroups ? 12 : 9).packString("BlockStored");
    hashes(packer, stored.hashes());
    hash(packer, stored.parent());
    tokens(packer, stored.tokenIds());
    packer.packInt(stored.group().blockSizeTokens());
    loraId(packer, stored.loraName());
    packer.packString(stored.tier().name());
    text(packer, stored.loraName());
    extraKeys(packer, stored.extraKeys());
    if (namesGroups) {
      packer.packInt(stored.group().index());
      packer.packString(kind(stored.group()));
      window(packer, stored.group());
    }
  }

  private void writeMap(MessagePacker packer, Stored stored) throws IOException {
    CacheGroup group = stored.group();
    boolean windowed = group.slidingWindowTokens() > 0;
    int fields = 8 + (stored.hashes().isEmpty() ? 0 : 1);
    packer.packMapHeader(fields + (namesGroups ? 2 : 0) + (namesGroups && windowed ? 1 : 0));
    packer.packString("type").packString("BlockStored");
    hashes(packer.packString("block_hashes"), stored.hashes());
    hash(packer.packString("parent_block_hash"), stored.parent());
    tokens(packer.packString("token_ids"), stored.tokenIds());
    packer.packString("block_size").packInt(group.blockSizeTokens());
    loraId(packer.packString("lora_id"), stored.loraName());
    packer.packString("medium").packString(stored.tier().name());
    text(packer.packString("lora_name"), stored.loraName());
    if (!stored.hashes().isEmpty()) {
      extraKeys(packer.packString("extra_keys"), stored.extraKeys());
    }
    if (namesGroups) {
      packer.packString("group_idx").packInt(group.index());
      packer.packString("kv_cache_spec_kind").packString(kind(group));
      if (windowed) {
        window(packer.packString("kv_cache_spec_sliding_window"), group);
      }
    }
  }

  private void write(MessagePacker packer, Removed removed) throws IOException {
    List<BlockHash> hashes = List.of(removed.hash());
    if (form == WireForm.ARRAY) {
      packer.packArrayHeader(namesGroups ? 4 : 3).packString("BlockRemoved");
      hashes(packer, hashes);
      packer.packString(removed.tier().name());
      if (namesGroups) {
        packer.packInt(removed.group());
      }
    } else {
      packer.packMapHeader(namesGroups ? 4 : 3).packString("type").packString("BlockRemoved");
      hashes(packer.packString("block_hashes"), hashes);
      packer.packString("medium").packString(removed.tier().name());
      if (namesGroups) {
        packer.packString("group_idx").packInt(removed.group());
      }
    }
  }

  private void hashes(MessagePacker packer, List<BlockHash> hashes) throws IOException {
    packer.packArrayHeader(hashes.size());
    for (BlockHash hash : hashes) {
      hash(packer, hash);
    }
  }

  private void hash(MessagePacker packer, @Nullable BlockHash hash) throws IOException {
    if (hash == null) {
      packer.packNil();
    } else if (bytesHashes) {
      byte[] digest = hash.digest();
      packer.packBinaryHeader(digest.length).writePayload(digest);
    } else {
      packer.packBigInteger(new BigInteger(Long.toUnsignedString(hash.low64())));
    }
  }

  private void loraId(MessagePacker packer, @Nullable String name) throws IOException {
    if (name == null) {
      packer.packNil();
    } else {
      Integer known = loraIds.putIfAbsent(name, loraIds.size() + 1);
      packer.packInt(known == null ? loraIds.size() : known);
    }
  }

  private static void tokens(MessagePacker packer, int[] tokenIds) throws IOException {
    packer.packArrayHeader(tokenIds.length);
    for (int tokenId : tokenIds) {
      packer.packInt(tokenId);
    }
  }

  private static void text(MessagePacker packer, @Nullable String text) throws IOException {
    if (text == null) {
      packer.packNil();
    } else {
      packer.packString(text);
    }
  }

  private static void window(MessagePacker packer, CacheGroup group) throws IOException {
    if (group.slidingWindowTokens() == 0) {
      packer.packNil();
    } else {
      packer.packInt(group.slidingWindowTokens());
    }
  }

  private static String kind(CacheGroup group) {
    return group.slidingWindowTokens() > 0 ? "sliding_window" : "full_attention";
  }

  private static void extraKeys(MessagePacker packer, List<List<ExtraKey>> perBlock)
      throws IOException {
    packer.packArrayHeader(perBlock.size());
    for (List<ExtraKey> keys : perBlock) {
      if (keys.isEmpty()) {
        packer.packNil();
        continue;
      }
      packer.packArrayHeader(keys.size());
      for (ExtraKey key : keys) {
        extraKey(packer, key);
      }
    }
  }

  private static void extraKey(MessagePacker packer, ExtraKey key) throws IOException {
    if (key instanceof ExtraKey.Lora lora) {
      packer.packString(lora.name());
    } else if (key instanceof ExtraKey.CacheSalt salt) {
      packer.packString(salt.salt());
    } else if (key instanceof ExtraKey.Multimodal item) {
      packer.packArrayHeader(2).packString(item.identifier()).packInt(item.offset());
    } else if (key instanceof ExtraKey.PromptEmbeds embeds) {
      byte[] digest = HexFormat.of().parseHex(embeds.digest());
      packer.packBinaryHeader(digest.length).writePayload(digest);
    }
  }

  /**
   * Writes events as SGLang 0.5.23 does: tagged maps, signed hashes, no groups and no extra keys.
   *
   * <p>Thread-safe.
   */
  private static final class SglangEvents {

    private SglangEvents() {}

    /** Writes one event. */
    static void write(MessagePacker packer, CacheEvent event) throws IOException {
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
        packer.packLong(SglangImages.wide(tokenId));
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
}
