package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.kvindex.block.ExtraKey;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.msgpack.value.Value;
import org.msgpack.value.ValueFactory;

/**
 * Builds the MessagePack value of one event in one of the two forms, field by field in vLLM's
 * order.
 *
 * <p>Confined to its encoder.
 */
final class EventValue {

  private static final Value NIL = ValueFactory.newNil();

  private final boolean map;
  private final LongFunction<byte @Nullable []> digests;
  private final List<Value> values = new ArrayList<>();

  EventValue(KvEventEncoder.Form form, LongFunction<byte @Nullable []> digests) {
    map = form == KvEventEncoder.Form.MAP;
    this.digests = digests;
  }

  Value stored(BlockStored stored) {
    Long parent = stored.parentBlockHash();
    BlockTokens tokens = stored.tokens();
    int window = stored.spec().slidingWindowTokens();
    type("BlockStored");
    field("block_hashes", hashes(stored.blockHashes()));
    field("parent_block_hash", parent == null ? NIL : hash(parent));
    field("token_ids", tokens(tokens.ids(), 0, tokens.count()));
    field("block_size", ValueFactory.newInteger(tokens.blockSizeTokens()));
    field("lora_id", NIL);
    field("medium", text(stored.place().medium()));
    field("lora_name", text(stored.keys().loraName()));
    optional("extra_keys", extraKeys(stored.keys()));
    optional("group_idx", ValueFactory.newInteger(stored.place().groupIdx()));
    optional("kv_cache_spec_kind", text(stored.spec().kind()));
    optional("kv_cache_spec_sliding_window", window == 0 ? NIL : ValueFactory.newInteger(window));
    optional("locality", text(stored.place().locality()));
    optional("ownership", text(stored.place().ownership()));
    optional("session_id", NIL);
    optional("lookahead_token_ids", lookahead(tokens, stored.blockHashes().length));
    mapOnly("cache_salt", text(stored.keys().cacheSalt()));
    return value();
  }

  Value removed(BlockRemoved removed) {
    type("BlockRemoved");
    field("block_hashes", hashes(removed.blockHashes()));
    field("medium", text(removed.place().medium()));
    optional("group_idx", ValueFactory.newInteger(removed.place().groupIdx()));
    optional("locality", text(removed.place().locality()));
    optional("ownership", text(removed.place().ownership()));
    return value();
  }

  Value cleared() {
    type("AllBlocksCleared");
    return value();
  }

  private Value value() {
    Value[] all = values.toArray(Value[]::new);
    return map ? ValueFactory.newMap(all, true) : ValueFactory.newArray(all, true);
  }

  private void type(String name) {
    field("type", text(name));
  }

  private void field(String name, Value value) {
    if (map) {
      values.add(ValueFactory.newString(name));
    }
    values.add(value);
  }

  /** A field that maps leave out when it is nil. */
  private void optional(String name, Value value) {
    if (!map || !value.isNilValue()) {
      field(name, value);
    }
  }

  /** A field that arrays do not have. */
  private void mapOnly(String name, Value value) {
    if (value.isNilValue()) {
      return;
    }
    if (!map) {
      throw new IllegalArgumentException(name + " in array form");
    }
    field(name, value);
  }

  private Value hashes(long[] hashes) {
    return ValueFactory.newArray(LongStream.of(hashes).mapToObj(this::hash).toList());
  }

  private Value hash(long hash) {
    byte[] digest = digests.apply(hash);
    if (digest != null) {
      return ValueFactory.newBinary(digest, true);
    }
    return hash >= 0
        ? ValueFactory.newInteger(hash)
        : ValueFactory.newInteger(new BigInteger(Long.toUnsignedString(hash)));
  }

  private static Value tokens(int[] ids, int from, int to) {
    return ValueFactory.newArray(
        Arrays.stream(ids, from, to).mapToObj(ValueFactory::newInteger).toList());
  }

  private static Value lookahead(BlockTokens tokens, int hashes) {
    int lookahead = tokens.lookaheadTokens();
    if (lookahead == 0) {
      return NIL;
    }
    return ValueFactory.newArray(
        IntStream.rangeClosed(1, hashes)
            .map(block -> block * tokens.blockSizeTokens())
            .mapToObj(end -> tokens(tokens.ids(), end, end + lookahead))
            .toList());
  }

  private static Value extraKeys(BlockKeys keys) {
    if (keys.perBlock().isEmpty()) {
      return NIL;
    }
    return ValueFactory.newArray(
        keys.perBlock().stream()
            .map(block ->
                block.isEmpty()
                    ? NIL
                    : ValueFactory.newArray(block.stream().map(EventValue::extraKey).toList()))
            .toList());
  }

  private static Value extraKey(ExtraKey key) {
    if (key instanceof ExtraKey.Lora lora) {
      return text(lora.name());
    }
    if (key instanceof ExtraKey.Multimodal item) {
      return ValueFactory.newArray(text(item.identifier()), ValueFactory.newInteger(item.offset()));
    }
    if (key instanceof ExtraKey.CacheSalt salt) {
      return text(salt.salt());
    }
    ExtraKey.PromptEmbeds embeds = (ExtraKey.PromptEmbeds) key;
    return ValueFactory.newBinary(HexFormat.of().parseHex(embeds.digest()), true);
  }

  private static Value text(@Nullable String text) {
    return text == null ? NIL : ValueFactory.newString(text);
  }
}
