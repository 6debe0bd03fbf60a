package dev.warmpath.eventingest.wire;

import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.EventRow.BlockKeys;
import dev.warmpath.eventingest.wire.EventRow.GroupSpec;
import dev.warmpath.eventingest.wire.KvEvent.AllBlocksCleared;
import dev.warmpath.eventingest.wire.KvEvent.BlockRemoved;
import dev.warmpath.eventingest.wire.KvEvent.BlockStored;
import dev.warmpath.kvindex.block.ExtraKey;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;
import org.msgpack.value.Value;

/**
 * Decodes payloads to trees with msgpack-core and reads events from them: no line of it is shared
 * with the decoder.
 *
 * <p>Thread-safe.
 */
final class MsgpackOracle {

  private static final List<String> STORED =
      List.of(
          "type",
          "block_hashes",
          "parent_block_hash",
          "token_ids",
          "block_size",
          "lora_id",
          "medium",
          "lora_name",
          "extra_keys",
          "group_idx",
          "kv_cache_spec_kind",
          "kv_cache_spec_sliding_window",
          "locality",
          "ownership",
          "session_id",
          "lookahead_token_ids");
  private static final List<String> REMOVED =
      List.of("type", "block_hashes", "medium", "group_idx", "locality", "ownership");

  /** Of arrays' elements those that no release with arrays has. */
  private static final Set<String> TEXTS = Set.of("locality", "ownership", "session_id");

  private MsgpackOracle() {}

  /** Something in the bytes or in an event is not what it should be. */
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1;
  }

  /**
   * The batch, or null when the library cannot say: it refuses timestamp extensions of odd lengths
   * and values, wherever they are.
   */
  static @Nullable KvEventBatch decode(byte[] payload) throws Refused {
    Map<String, Value> fields = new HashMap<>();
    Value root = tree(payload);
    if (root == null) {
      return null;
    }
    if (root.isArrayValue()) {
      List<Value> parts = root.asArrayValue().list();
      List<String> names = List.of("ts", "events", "data_parallel_rank");
      for (int i = 0; i < Math.min(3, parts.size()); i++) {
        take(fields, names.get(i), parts.get(i));
      }
    } else {
      require(root.isMapValue());
      Value[] pairs = root.asMapValue().getKeyValueArray();
      for (int i = 0; i < pairs.length; i += 2) {
        String name = pairs[i].isStringValue() ? text(pairs[i]) : "";
        take(fields, name.equals("attn_dp_rank") ? "data_parallel_rank" : name, pairs[i + 1]);
      }
    }
    Value events = fields.get("events");
    require(events != null && events.isArrayValue());
    Value time = fields.get("ts");
    Value rank = fields.get("data_parallel_rank");
    double seconds = Double.NaN;
    if (time != null) {
      seconds = time.isIntegerValue() ? (double) bits(time) : time.asFloatValue().toDouble();
    }
    long number = rank == null ? -1 : bits(rank);
    return batch(seconds, number >= 0 && number <= Integer.MAX_VALUE ? (int) number : -1, events);
  }

  /** Of the envelope, the first events count, and the last time and rank of the right type. */
  private static void take(Map<String, Value> fields, String name, Value value) {
    switch (name) {
      case "ts" -> {
        if (value.isNumberValue()) {
          fields.put(name, value);
        }
      }
      case "data_parallel_rank" -> {
        if (value.isIntegerValue()) {
          fields.put(name, value);
        }
      }
      default -> fields.putIfAbsent(name, value);
    }
  }

  private static @Nullable Value tree(byte[] payload) throws Refused {
    try (MessageUnpacker unpacker = MessagePack.newDefaultUnpacker(payload)) {
      Value value = unpacker.unpackValue();
      require(!unpacker.hasNext());
      return value;
    } catch (IOException | MessagePackException e) {
      if (String.valueOf(e.getMessage()).startsWith("Timestamp extension type")) {
        return null;
      }
      throw new Refused();
    } catch (DateTimeException | ArithmeticException e) {
      return null;
    }
  }

  private static KvEventBatch batch(double time, int rank, Value list) {
    List<KvEvent> events = new ArrayList<>();
    Map<SkipReason, Integer> skipped = new EnumMap<>(SkipReason.class);
    for (Value event : list.asArrayValue()) {
      Map<String, Value> fields = fields(event);
      Value type = fields.get("type");
      String name = type == null || !type.isStringValue() ? "" : text(type);
      SkipReason reason =
          switch (name) {
            case "" ->
                type != null && type.isStringValue() ? SkipReason.UNKNOWN_TYPE : SkipReason.UNTYPED;
            case "BlockStored" -> SkipReason.MALFORMED_STORED;
            case "BlockRemoved" -> SkipReason.MALFORMED_REMOVED;
            default -> SkipReason.UNKNOWN_TYPE;
          };
      try {
        switch (name) {
          case "BlockStored" -> events.add(stored(fields));
          case "BlockRemoved" ->
              events.add(new BlockRemoved(hashes(fields.get("block_hashes")), place(fields)));
          case "AllBlocksCleared" -> events.add(new AllBlocksCleared());
          default -> throw new Refused();
        }
      } catch (Refused e) {
        skipped.merge(reason, 1, Integer::sum);
      }
    }
    return new KvEventBatch(time, rank, events, skipped, "");
  }

  private static Map<String, Value> fields(Value event) {
    Map<String, Value> fields = new HashMap<>();
    if (event.isArrayValue() && event.asArrayValue().size() > 0) {
      List<Value> parts = event.asArrayValue().list();
      Value type = parts.get(0);
      boolean removal = type.isStringValue() && text(type).equals("BlockRemoved");
      List<String> names = removal ? REMOVED : STORED;
      for (int i = 0; i < Math.min(names.size(), parts.size()); i++) {
        String name = names.get(i);
        boolean fits =
            TEXTS.contains(name)
                ? parts.get(i).isStringValue()
                : !name.equals("lookahead_token_ids") || parts.get(i).isArrayValue();
        if (fits) {
          fields.put(name, parts.get(i));
        }
      }
    } else if (event.isMapValue()) {
      Value[] pairs = event.asMapValue().getKeyValueArray();
      for (int i = 0; i < pairs.length; i += 2) {
        if (pairs[i].isStringValue()) {
          fields.put(text(pairs[i]), pairs[i + 1]);
        }
      }
    }
    return fields;
  }

  private static BlockStored stored(Map<String, Value> fields) throws Refused {
    long[] hashes = hashes(fields.get("block_hashes"));
    Value parent = fields.get("parent_block_hash");
    require(parent != null);
    Long behind = parent.isNilValue() ? null : (Long) hash(parent);
    BlockTokens tokens = tokens(fields, hashes.length);
    BlockKeys keys = keys(fields, hashes.length);
    BlockPlace place = place(fields);
    Value kind = some(fields, "kv_cache_spec_kind");
    require(kind == null || kind.isStringValue());
    int window = number(some(fields, "kv_cache_spec_sliding_window"), Integer.MAX_VALUE);
    GroupSpec spec = new GroupSpec(kind == null ? null : text(kind), window);
    return new BlockStored(hashes, behind, tokens, keys, place, spec);
  }

  private static BlockPlace place(Map<String, Value> fields) throws Refused {
    Value medium = some(fields, "medium");
    require(medium == null || medium.isStringValue());
    int group = number(some(fields, "group_idx"), 1023);
    Value locality = some(fields, "locality");
    require(locality == null || locality.isStringValue());
    Value ownership = some(fields, "ownership");
    require(ownership == null || ownership.isStringValue());
    return new BlockPlace(
        medium == null ? "GPU" : text(medium),
        group,
        locality == null ? null : text(locality),
        ownership == null ? null : text(ownership));
  }

  private static long[] hashes(@Nullable Value value) throws Refused {
    require(value != null && value.isArrayValue());
    List<Value> list = value.asArrayValue().list();
    long[] hashes = new long[list.size()];
    for (int i = 0; i < hashes.length; i++) {
      hashes[i] = hash(list.get(i));
    }
    return hashes;
  }

  private static long hash(Value value) throws Refused {
    if (value.isBinaryValue()) {
      byte[] digest = value.asBinaryValue().asByteArray();
      require(digest.length > 0);
      int from = Math.max(0, digest.length - Long.BYTES);
      return new BigInteger(1, Arrays.copyOfRange(digest, from, digest.length)).longValue();
    }
    require(value.isIntegerValue());
    return bits(value);
  }

  private static BlockTokens tokens(Map<String, Value> fields, int hashes) throws Refused {
    require(fields.containsKey("block_size"));
    int size = number(some(fields, "block_size"), 1 << 30);
    require(fields.containsKey("token_ids"));
    Value value = some(fields, "token_ids");
    require(value == null || value.isArrayValue());
    List<Value> list = value == null ? List.of() : value.asArrayValue().list();
    if (!list.isEmpty() && list.get(0).isArrayValue()) {
      return pairs(list, size);
    }
    Ids ids = new Ids();
    ids.addAll(list);
    Value ahead = some(fields, "lookahead_token_ids");
    if (ahead == null) {
      return ids.tokens(size, 0);
    }
    int plain = ids.list.size();
    try {
      return withLookahead(ids, ahead, size, hashes);
    } catch (Refused e) {
      ids.list.subList(plain, ids.list.size()).clear();
      ids.forbid(Naming.UNEVEN);
      return ids.tokens(size, 0);
    }
  }

  private static BlockTokens withLookahead(Ids ids, Value ahead, int size, int hashes)
      throws Refused {
    require(ahead.isArrayValue());
    List<Value> entries = ahead.asArrayValue().list();
    if (entries.size() != hashes) {
      ids.forbid(Naming.UNEVEN);
    }
    if (entries.isEmpty()
        || ids.naming != Naming.DENSE
        || (long) hashes * size != ids.list.size()) {
      return ids.tokens(size, 0);
    }
    Value last = entries.get(entries.size() - 1);
    require(last.isArrayValue());
    ids.addAll(last.asArrayValue().list());
    int length = last.asArrayValue().size();
    for (int block = 0; block < hashes; block++) {
      ids.compare(entries.get(block), (block + 1) * size, length);
    }
    return ids.tokens(size, length);
  }

  private static BlockTokens pairs(List<Value> list, int size) throws Refused {
    Ids ids = new Ids();
    for (Value pair : list) {
      int id;
      int next;
      try {
        require(pair.isArrayValue() && pair.asArrayValue().size() == 2);
        id = ids.id(pair.asArrayValue().get(0));
        next = ids.id(pair.asArrayValue().get(1));
      } catch (Refused e) {
        ids.forbid(Naming.BROKEN_LOOKAHEAD);
        break;
      }
      if (!ids.list.isEmpty() && ids.list.get(ids.list.size() - 1) != id) {
        ids.forbid(Naming.BROKEN_LOOKAHEAD);
      }
      if (!ids.list.isEmpty()) {
        ids.list.remove(ids.list.size() - 1);
      }
      ids.list.add(id);
      ids.list.add(next);
    }
    return ids.tokens(size, ids.list.isEmpty() ? 0 : 1);
  }

  /** Token ids, and what is wrong with them. */
  private static final class Ids {
    private final List<Integer> list = new ArrayList<>();
    private Naming naming = Naming.DENSE;

    void addAll(List<Value> values) throws Refused {
      for (Value value : values) {
        list.add(id(value));
      }
    }

    int id(Value value) throws Refused {
      require(value.isIntegerValue());
      BigInteger id =
          value.asIntegerValue().asBigInteger().mod(BigInteger.ONE.shiftLeft(Long.SIZE));
      return id.bitLength() < Integer.SIZE ? id.intValue() : mixed(id);
    }

    /** MurmurHash3's last steps, in numbers without an end; their low bits with the highest one. */
    private static int mixed(BigInteger id) {
      BigInteger all = BigInteger.ONE.shiftLeft(Long.SIZE).subtract(BigInteger.ONE);
      BigInteger mixed = id;
      for (String factor : List.of("ff51afd7ed558ccd", "c4ceb9fe1a85ec53")) {
        mixed = mixed.xor(mixed.shiftRight(33));
        mixed = mixed.multiply(new BigInteger(factor, 16)).and(all);
      }
      return mixed.xor(mixed.shiftRight(33)).setBit(Integer.SIZE - 1).intValue();
    }

    void compare(Value entry, int from, int length) throws Refused {
      require(entry.isArrayValue());
      List<Value> values = entry.asArrayValue().list();
      if (values.size() != length) {
        forbid(Naming.BROKEN_LOOKAHEAD);
      }
      for (int i = 0; i < values.size(); i++) {
        int id = id(values.get(i));
        if (i < length && list.get(from + i) != id) {
          forbid(Naming.BROKEN_LOOKAHEAD);
        }
      }
    }

    void forbid(Naming reason) {
      naming = naming == Naming.DENSE ? reason : naming;
    }

    BlockTokens tokens(int size, int lookahead) {
      int[] ids = list.stream().mapToInt(Integer::intValue).toArray();
      return new BlockTokens(ids, size, lookahead, naming);
    }
  }

  private static BlockKeys keys(Map<String, Value> fields, int hashes) throws Refused {
    Value salt = some(fields, "cache_salt");
    require(salt == null || salt.isStringValue());
    String cacheSalt = salt == null ? null : text(salt);
    String lora = null;
    Value name = some(fields, "lora_name");
    if (name != null && name.isMapValue()) {
      cacheSalt = saltOfMap(name.asMapValue().getKeyValueArray());
    } else if (name != null) {
      require(name.isStringValue());
      lora = text(name);
    }
    boolean unnamed = lora == null && some(fields, "lora_id") != null;
    Naming naming = unnamed ? Naming.UNNAMED_ADAPTER : Naming.DENSE;
    Value extra = some(fields, "extra_keys");
    List<List<ExtraKey>> perBlock = new ArrayList<>();
    if (extra != null) {
      require(extra.isArrayValue());
      if (extra.asArrayValue().size() != hashes) {
        return new BlockKeys(lora, cacheSalt, List.of(), Naming.UNEVEN);
      }
      for (Value block : extra.asArrayValue()) {
        List<ExtraKey> keys = new ArrayList<>();
        if (!block.isNilValue() && !block(block, lora, keys)) {
          naming = Naming.UNKNOWN_KEY;
        }
        perBlock.add(keys);
      }
    }
    return new BlockKeys(lora, cacheSalt, perBlock, naming);
  }

  private static @Nullable String saltOfMap(Value[] pairs) throws Refused {
    String salt = null;
    for (int i = 0; i < pairs.length; i += 2) {
      boolean named = pairs[i].isStringValue() && text(pairs[i]).equals("cache_salt");
      if (named && !pairs[i + 1].isNilValue()) {
        require(pairs[i + 1].isStringValue());
        salt = text(pairs[i + 1]);
      }
    }
    return salt;
  }

  /** Whether all keys of the block are of a known kind. */
  private static boolean block(Value block, @Nullable String lora, List<ExtraKey> into)
      throws Refused {
    require(block.isArrayValue());
    boolean known = true;
    int position = 0;
    for (Value key : block.asArrayValue()) {
      boolean first = position++ == 0;
      if (key.isArrayValue()) {
        List<Value> item = key.asArrayValue().list();
        require(item.size() == 1 || item.size() == 2);
        require(item.get(0).isStringValue());
        long offset = item.size() == 1 ? 0 : integer(item.get(1));
        require(offset == (int) offset);
        into.add(new ExtraKey.Multimodal(text(item.get(0)), (int) offset));
      } else if (key.isBinaryValue()) {
        byte[] digest = key.asBinaryValue().asByteArray();
        into.add(new ExtraKey.PromptEmbeds(HexFormat.of().formatHex(digest)));
      } else if (key.isStringValue()) {
        boolean adapter = first && text(key).equals(lora);
        into.add(adapter ? new ExtraKey.Lora(text(key)) : new ExtraKey.CacheSalt(text(key)));
      } else {
        known = false;
      }
    }
    return known;
  }

  private static @Nullable Value some(Map<String, Value> fields, String name) {
    Value value = fields.get(name);
    return value == null || value.isNilValue() ? null : value;
  }

  private static int number(@Nullable Value value, int most) throws Refused {
    long number = value == null ? 0 : integer(value);
    require(number >= 0 && number <= most);
    return (int) number;
  }

  private static long integer(Value value) throws Refused {
    require(value.isIntegerValue());
    return bits(value);
  }

  private static long bits(Value integer) {
    return integer.asIntegerValue().toBigInteger().longValue();
  }

  private static String text(Value value) {
    return new String(value.asStringValue().asByteArray(), StandardCharsets.UTF_8);
  }

  private static void require(boolean condition) throws Refused {
    if (!condition) {
      throw new Refused();
    }
  }
}
